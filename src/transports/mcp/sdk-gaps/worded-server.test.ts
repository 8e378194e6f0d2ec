import { expect, test } from "bun:test";
import { beginSession, modernMeta, post, rpc, serveHttp } from "../http.test-kit.ts";

const nothing = "so nothing was carried out.";

test.each([
  [
    "tools/call",
    {},
    `\`params.name\` is missing in this request of tools/call, ${nothing} Send the \`name\``,
  ],
  ["tools/call", { name: 5 }, "`params.name` is not what the protocol says"],
  ["tools/call", { name: "coder_read_file", arguments: [] }, "`params.arguments` is not what"],
  ["resources/read", {}, `\`params.uri\` is missing in this request of resources/read, ${nothing}`],
  ["resources/subscribe", { uri: null }, "`params.uri` is not what the protocol says"],
  ["resources/unsubscribe", {}, "`params.uri` is missing"],
  ["completion/complete", { argument: { name: "a", value: "b" } }, "`params.ref` is missing"],
  ["tools/list", { cursor: 5 }, "`params.cursor` is not what the protocol says"],
])("%s with the params %j is refused in words", async (method, params, sentence) => {
  const { url } = await serveHttp();
  const { text } = await post(url, { body: rpc(1, method, params), headers: await beginSession(url) });
  const { error } = JSON.parse(/\{.*\}/.exec(text)![0]);
  expect(error).toEqual({ code: -32_602, message: expect.stringContaining(sentence) });
});

test("a request without a session is refused in words too", async () => {
  const { url } = await serveHttp();
  const body = rpc(1, "resources/read", { _meta: modernMeta, uri: 5 });
  const headers = { "mcp-method": "resources/read", "mcp-protocol-version": "2026-07-28" };
  const { text } = await post(url, { body, headers });
  const message = expect.stringContaining("`params.uri` is not what the protocol says");
  expect(JSON.parse(text).error).toEqual({ code: -32_602, message });
});

test("a refusal for another reason stays", async () => {
  const { url } = await serveHttp();
  const body = rpc(1, "tools/call", { name: "none" });
  const { text } = await post(url, { body, headers: await beginSession(url) });
  expect(text).toContain("There is no tool");
});
