import { describe, expect, test } from "bun:test";
import { maxDepth, maxNumberLength, parseJson } from "../../base/scheduling/parse-json.ts";
import { longId, maxCopied, maxIdLength, notParsed, readMessage } from "./messages.ts";

const many = Array.from({ length: maxCopied }, (_, index) => index);
const keys = Object.fromEntries(many.map((index) => [`k${index}`, 0]));
const nested = { a: { b: many.map(() => []) } };

const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 7, method, params });

describe("a message with more keys and items than the SDK can copy in one turn", () => {
  test.each<[string, object]>([
    ["in _meta", request("tools/call", { name: "x", arguments: {}, _meta: keys })],
    ["in params", request("tools/call", { name: "x", ...keys })],
    ["as names of arguments", request("tools/call", { name: "x", arguments: keys })],
    ["in capabilities", request("initialize", { capabilities: { experimental: nested } })],
    ["in the arguments of no tool", request("prompts/get", { name: "x", arguments: nested })],
  ])("is refused with its id if they are %s", (_, message) => {
    expect(readMessage(message)).toEqual({
      isAwaited: true,
      refusal: {
        jsonrpc: "2.0",
        id: 7,
        error: { code: -32600, message: expect.stringContaining(`at most ${maxCopied} keys and items`) },
      },
    });
  });

  test.each<[string, object]>([
    ["a notification", { jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta: keys } }],
    ["a result", { jsonrpc: "2.0", id: 7, result: keys }],
    ["an error", { jsonrpc: "2.0", id: 7, error: { code: 1, message: "x", data: nested } }],
  ])("is dropped if it is %s", (_, message) => {
    expect(readMessage(message)).toMatchObject({ isAwaited: false });
  });

  test.each<[string, object]>([
    ["in values of arguments", request("tools/call", { name: "x", arguments: nested })],
    ["in fields that are dropped", { ...request("ping", {}), keys }],
  ])("is read if they are %s", (_, message) => {
    expect(readMessage(message)).toMatchObject({ message: { id: 7 } });
  });
});

describe("an id of too many characters", () => {
  const long = "x".repeat(maxIdLength + 1);
  const cancel = (requestId: string) => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId },
  });

  test.each<[string, boolean, (id: string) => object]>([
    ["a request", true, (id) => ({ jsonrpc: "2.0", id, method: "ping" })],
    ["a progressToken", true, (id) => request("ping", { _meta: { progressToken: id } })],
    ["a result", false, (id) => ({ jsonrpc: "2.0", id, result: {} })],
    ["a cancellation", false, cancel],
    ["what is no message", true, (id) => ({ id })],
  ])("is refused without it in %s", (_, isAwaited, messageWith) => {
    expect(readMessage(messageWith(long))).toEqual({ refusal: longId, isAwaited });
    expect(JSON.stringify(readMessage(messageWith(long.slice(1))))).not.toContain("characters");
  });

  test("is no content of arguments", () => {
    const params = { name: "x", arguments: { requestId: long, _meta: { progressToken: long } } };
    expect(readMessage(request("tools/call", params))).toMatchObject({ message: { params } });
  });

  test("has the limit in its refusal", () => {
    expect(longId).toMatchObject({ id: null, error: { code: -32600 } });
    expect(longId.error.message).toContain(`at most ${maxIdLength} characters`);
  });
});

test.each([
  [`${"[".repeat(maxDepth)}${"]".repeat(maxDepth)}`, `more than ${maxDepth} levels`],
  ["1".repeat(maxNumberLength + 1), `more than ${maxNumberLength} characters`],
])("a message that is not parsed is refused with its id", (value, sentence) => {
  const json = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":${value}}}`;
  const read = () => parseJson(json);
  expect(read).toThrow();
  try {
    read();
  } catch (error) {
    expect(notParsed(Buffer.from(json), error)).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32600, message: expect.stringContaining(sentence) },
    });
  }
});
