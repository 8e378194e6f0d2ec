/** The page as an MCP App: the offer to clients of the extension, and the page in a host. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { testUnless } from "../faults/machine.ts";
import { connectStdio, type McpFixture, textOf } from "../mcp/client.ts";
import { closeBrowser, openPage, reasonAgainstBrowser } from "./browser.ts";

const uri = "ui://coder/review";
const mimeType = "text/html;profile=mcp-app";
const withApps = {
  capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [mimeType] } } },
};

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", { tree: { "a.ts": "const a = 1;\n" }, client: withApps });
});
afterAll(async () => {
  await closeBrowser();
  await connected[Symbol.asyncDispose]();
});

const edit = { name: "coder_update_file", arguments: { path: "a.ts", old_str: "1", new_str: "2" } };

describe("a client that shows apps", () => {
  test("is told the page beside each tool that changes files, and the tool of the page", async () => {
    const { tools } = await connected.client.listTools();
    const shown = tools.filter(({ _meta: meta }) => meta !== undefined);
    for (const { name, annotations, _meta: meta } of shown.slice(0, -1))
      expect([name, annotations?.readOnlyHint, meta]).toEqual([
        name,
        undefined,
        { ui: { resourceUri: uri } },
      ]);
    expect(shown.map(({ name }) => name)).toEqual([
      ...tools.filter(({ annotations }) => annotations && !annotations.readOnlyHint).map(({ name }) => name),
      "coder_review",
    ]);
    expect(shown.at(-1)!._meta).toEqual({ ui: { resourceUri: uri, visibility: ["app"] } });
  });

  test("reads the page, which loads nothing from elsewhere", async () => {
    const { contents } = await connected.client.readResource({ uri });
    const [page, ...more] = contents as { text: string; mimeType: string; uri: string }[];
    expect([page!.uri, page!.mimeType, more]).toEqual([uri, mimeType, []]);
    expect(page!.text).toStartWith("<!doctype html>");
    expect(page!.text).not.toMatch(/<(script|link|img)[^>]*(src|href)=/);
  });

  test("calls functions for the page, and only those of the page", async () => {
    const ask = (id: string, payload: object) =>
      connected.call("coder_review", { function: id, payload }) as Promise<CallToolResult>;
    const read = await ask("coder::read-file", { path: "a.ts" });
    expect(read.structuredContent).toMatchObject({ answer: { content: "const a = 1;\n" } });
    const outside = await ask("coder::read-file", { path: "../config.yaml" });
    const { error } = outside.structuredContent as { readonly error: string };
    expect(JSON.parse(error).code).toMatch(/^C21/);
    for (const id of ["coder::create-file", "shell::exec", "constructor"])
      await expect(ask(id, { path: "x", content: "" })).rejects.toThrow("The page cannot call");
  });
});

test("a client of revision 2026-07-28 is offered the same", async () => {
  const client = { ...withApps, versionNegotiation: { mode: "auto" } } as const;
  await using modern = await connectStdio("executable", { tree: { "a.ts": "1\n" }, client });
  expect(modern.client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  const { tools } = await modern.client.listTools();
  expect(tools.at(-1)!.name).toBe("coder_review");
  const result = await modern.call(edit.name, edit.arguments);
  expect(result._meta).toMatchObject({ "dev.iii.coder/checkpoint": 1 });
});

test("a client that does not is offered nothing of it", async () => {
  await using plain = await connectStdio("executable", { tree: { "a.ts": "1\n" } });
  const { tools } = await plain.client.listTools();
  expect(tools.filter(({ name, _meta: meta }) => meta !== undefined || name === "coder_review")).toEqual([]);
  const result = await plain.call(edit.name, edit.arguments);
  expect([result._meta, textOf(result).split("\n").at(-1)]).toEqual([undefined, "#1"]);
  await expect(plain.call("coder_review", { function: "coder::info", payload: {} })).rejects.toThrow(
    "no tool",
  );
});

/** The policy that hosts set for a page without declared domains (MCP Apps 2026-01-26). */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

testUnless(reasonAgainstBrowser, "a host shows the change beside the call, with undo", async () => {
  const { contents } = await connected.client.readResource({ uri });
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "app-host.ts")],
    target: "browser",
    minify: true,
  });
  const script = await outputs[0]!.text();
  await using opened = await openPage("https://host.example/", {}, async (page) => {
    await page.route("https://host.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<!doctype html><title>host</title><body><script type="module">${script.replaceAll("</script", "<\\/script")}</script>`,
      }),
    );
    await page.route("https://app.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        headers: { "content-security-policy": policy },
        body: (contents[0] as { text: string }).text,
      }),
    );
    await page.exposeFunction("callTool", ({ name, arguments: given }: typeof edit) =>
      connected.call(name, given),
    );
  });
  const { page, faults } = opened;
  await page.evaluate(`showApp(${JSON.stringify(edit)})`);
  const app = page.frameLocator("iframe");
  await app.getByText("The call has not ended yet.").waitFor();
  const result = await connected.call(edit.name, edit.arguments);
  await page.evaluate(`finish(${JSON.stringify(result)})`);
  await app.getByRole("heading", { name: "Edited a.ts" }).waitFor();
  await app.getByRole("region", { name: "Changes, lines" }).locator(".added .mark").waitFor();
  await app.locator(".hljs-keyword").first().waitFor();
  expect(await app.locator("html").evaluate((html) => html.style.colorScheme)).toBe("dark");
  expect(Number(await page.locator("iframe").getAttribute("height"))).toBe(520);
  await app.getByRole("button", { name: "Full screen" }).click();
  await app.getByRole("button", { name: "Leave full screen" }).click();
  await app.getByRole("button", { name: "Undo …" }).click();
  const dialog = app.getByRole("dialog");
  await dialog.getByRole("button", { name: "Undo", exact: true }).click();
  await app.getByRole("status").filter({ hasText: "Undone: 1 path." }).waitFor();
  expect(textOf(await connected.call("coder_read_file", { path: "a.ts" }))).toBe("const a = 1;\n");
  await app.getByRole("link", { name: "← Timeline" }).click();
  await app.getByRole("option", { name: /undo of #1/ }).waitFor();
  // A host may show a call below the fold, where the browser does not draw, and send its result immediately.
  const second = await connected.call(edit.name, edit.arguments);
  await page.evaluate(`document.body.append(Object.assign(document.createElement("p"), { style: "height: 3000px" }));
    showApp(${JSON.stringify(edit)}).then(() => finish(${JSON.stringify(second)}))`);
  await page.locator("iframe").nth(1).scrollIntoViewIfNeeded();
  const below = page.locator("iframe").nth(1).contentFrame();
  await below.getByRole("heading", { name: "Edited a.ts" }).waitFor();
  expect(faults).toEqual(Array.from({ length: 2 }, () => "request to https://app.example/"));
});
