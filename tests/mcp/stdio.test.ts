import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, watch as watchFolder } from "node:fs";
import { createInterface } from "node:readline";
import { commandOf, defaultSubjects, type Subject, stateFolder } from "../harness/subject.ts";
import {
  connectStdio,
  endlessSearch,
  type McpFolderOptions,
  makeMcpFolder,
  slowSearch,
  textOf,
  untilSearchStopped,
  watchStderr,
} from "./client.ts";
import { waitUntilIdle } from "./idle.ts";

interface Frame {
  readonly id?: number | string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

const notJson = { id: null, error: { code: -32700 } };
const invalid = (id: unknown) => ({ id, error: { code: -32600 } });
const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
const pong = (id: number) => ({ id, result: {} });

/** Lines of input with the expected answers. */
const lines: readonly (readonly [line: string, answers: readonly object[]])[] = [
  ["nonsense", [notJson]],
  ["{", [notJson]],
  ["\u0000", [notJson]],
  ["\ufeff{}", [notJson]],
  ["null", [invalid(null)]],
  ["5", [invalid(null)]],
  ["{}", [invalid(null)]],
  ['{"jsonrpc":"1.0"}', [invalid(null)]],
  ['{"id":{}}', [invalid(null)]],
  [JSON.stringify({ ...ping, method: "tools/list", params: null }), [{ id: 7, result: {} }]],
  [JSON.stringify({ ...ping, params: "x" }), [invalid(7)]],
  [JSON.stringify({ ...ping, params: [] }), [invalid(7)]],
  [JSON.stringify({ ...ping, params: { _meta: { progressToken: {} } } }), [invalid(7)]],
  [JSON.stringify({ ...ping, params: { _meta: { items: Array(2001).fill(0) } } }), [invalid(7)]],
  [JSON.stringify({ ...ping, extra: 1 }), [pong(7)]],
  [JSON.stringify({ ...ping, jsonrpc: "1.0" }), [invalid(7)]],
  [JSON.stringify({ id: 7, method: "ping" }), [invalid(7)]],
  [JSON.stringify({ ...ping, id: 1.5 }), [invalid(1.5)]],
  [JSON.stringify({ ...ping, id: null }), [invalid(null)]],
  [JSON.stringify({ ...ping, id: [] }), [invalid(null)]],
  [JSON.stringify({ ...ping, id: "a", method: 5 }), [invalid("a")]],
  [JSON.stringify({ jsonrpc: "2.0", id: 7 }), [invalid(7)]],
  [JSON.stringify({ jsonrpc: "2.0", method: 5 }), [invalid(null)]],
  [JSON.stringify({ ...ping, method: "no/such/method" }), [{ id: 7, error: { code: -32601 } }]],
  [
    JSON.stringify({ ...ping, method: "tools/call", params: { name: 7 } }),
    [{ id: 7, error: { code: -32602 } }],
  ],
  ["[]", [invalid(null)]],
  [JSON.stringify(Array.from({ length: 101 }, () => ping)), [invalid(null)]],
  [JSON.stringify([ping, { ...ping, id: 8 }]), [pong(7), pong(8)]],
  [JSON.stringify([1, { ...ping, id: 9, method: 5 }]), [invalid(null), invalid(9)]],
  // Notifications, responses and blank lines get no answer.
  ["", []],
  [" \r", []],
  [JSON.stringify({ jsonrpc: "1.0", method: "notifications/cancelled" }), []],
  [JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: 5 }), []],
  [JSON.stringify({ jsonrpc: "2.0", id: 7, result: 5 }), []],
  [JSON.stringify({ jsonrpc: "2.0", id: 7, error: "x" }), []],
];

/** Starts the program without an SDK: the test writes lines and reads frames. */
function startRaw(subject: Subject, options: McpFolderOptions = {}) {
  const { file, remove } = makeMcpFolder(options);
  const [command, ...before] = commandOf(subject);
  const env = { ...process.env, XDG_STATE_HOME: stateFolder() };
  const child = spawn(command, [...before, "mcp", "--config", file], { stdio: "pipe", env });
  const frames = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: unknown) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`);
  const next = async () => {
    const { value } = await frames.next();
    return value === undefined ? undefined : (JSON.parse(value) as Frame);
  };
  return {
    child,
    send,
    next,
    ...watchStderr(child.stderr),
    exited: once(child, "exit").then(([code]) => code as number | null),
    async initialize() {
      const params = {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "raw", version: "1" },
      };
      send({ id: 0, method: "initialize", params });
      send({ method: "notifications/initialized" });
      return await next();
    },
    callTool: (id: number, name: string, args: unknown) =>
      send({ id, method: "tools/call", params: { name, arguments: args } }),
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      remove();
    },
  };
}

describe.each(defaultSubjects)("the %s on stdio", (subject) => {
  test("answers an older client in its own revision, and says how to use the tools", async () => {
    using raw = startRaw(subject);
    expect(await raw.initialize()).toMatchObject({
      id: 0,
      result: {
        protocolVersion: "2025-06-18",
        serverInfo: { name: "coder" },
        capabilities: { tools: {}, resources: {}, completions: {} },
        instructions: expect.stringContaining("coder_search"),
      },
    });
  });

  test("answers each line that waits for an answer, well formed or not", async () => {
    using raw = startRaw(subject, { tree: { "a.txt": "a\n" } });
    await raw.initialize();
    for (const [line, expected] of lines) {
      raw.child.stdin.write(`${line}\n`);
      for (const answer of expected) expect(await raw.next()).toMatchObject(answer);
    }
    raw.callTool(99, "coder_read_file", { path: "a.txt" });
    // If a line above had got an unexpected answer, it would come first.
    expect(await raw.next()).toMatchObject({ id: 99, result: { content: [{ type: "text", text: "a\n" }] } });
    expect(raw.stderr()).not.toContain("nonsense");
  });

  test("answers a line of 100 MB, and goes on", async () => {
    using raw = startRaw(subject, { tree: { "a.txt": "a\n" } });
    await raw.initialize();
    raw.callTool(98, "coder_create_file", { path: "made", content: "x".repeat(100_000_000) });
    expect(await raw.next()).toMatchObject({ id: 98, error: { code: -32600 } });
    raw.callTool(99, "coder_list_folder", {});
    expect(await raw.next()).toMatchObject({
      id: 99,
      result: { content: [{ text: expect.not.stringContaining("made") }] },
    });
  });

  test("refuses a line that is not UTF-8, and carries out nothing of it", async () => {
    using raw = startRaw(subject);
    await raw.initialize();
    for (const bytes of ["\xff", "\xc3(", "\xed\xa0\x80", "\xc0\xaf"]) {
      const call = { name: "coder_create_file", arguments: { path: "made", content: bytes } };
      const line = `${JSON.stringify({ ...ping, method: "tools/call", params: call })}\n`;
      raw.child.stdin.write(Buffer.from(line, "latin1"));
      expect(await raw.next()).toMatchObject({
        ...notJson,
        error: { message: expect.stringContaining("UTF-8") },
      });
    }
    raw.callTool(8, "coder_list_folder", {});
    expect(JSON.stringify(await raw.next())).not.toContain("made");
  });

  test("takes arguments that are null as absent", async () => {
    using raw = startRaw(subject, { tree: { "a.txt": "a" } });
    await raw.initialize();
    raw.callTool(7, "coder_list_folder", null);
    const frame = await raw.next();
    expect(frame).toMatchObject({ id: 7, result: { content: [{ text: expect.stringContaining("a.txt") }] } });
    expect(frame?.result).not.toHaveProperty("isError");
  });

  test("answers a request with params null that comes before any handshake", async () => {
    using raw = startRaw(subject);
    raw.child.stdin.write('{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}\n');
    expect(await raw.next()).toMatchObject({ id: 7, result: { tools: expect.any(Array) } });
  });

  test("ends when its client has gone, also in the middle of a search", async () => {
    using raw = startRaw(subject, endlessSearch);
    await raw.initialize();
    raw.callTool(1, "coder_search", slowSearch);
    raw.callTool(2, "coder_read_file", { path: "none" });
    expect(await raw.next()).toMatchObject({ id: 2 });
    raw.child.stdin.end();
    expect(await raw.exited).toBe(0);
  });

  test("answers what came before its input ended", async () => {
    using raw = startRaw(subject, { tree: { "a.txt": "a" } });
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    const initialized = raw.initialize();
    for (const id of ids) {
      const [name, args] = [
        ["coder_read_file", { path: "a.txt" }],
        ["coder_search", { query: "a" }],
        ["coder_create_file", { files: [{ path: `${id}.txt`, content: "x" }] }],
      ][id % 3] as [string, object];
      raw.callTool(id, name, args);
    }
    raw.child.stdin.end();
    await initialized;
    const answered: unknown[] = [];
    for (let frame = await raw.next(); frame !== undefined; frame = await raw.next()) answered.push(frame.id);
    expect(answered.sort((one, other) => Number(one) - Number(other))).toEqual(ids);
    expect(await raw.exited).toBe(0);
  });

  test("answers what came before its input ended in full, however large", async () => {
    const content = "é\n".repeat(2_000_000);
    using raw = startRaw(subject, { tree: { "a.txt": content } });
    const initialized = raw.initialize();
    for (const id of [1, 2])
      raw.callTool(id, "coder_read_file", { path: "a.txt", max_output_bytes: 16_000_000 });
    raw.child.stdin.end();
    await initialized;
    const answered = [await raw.next(), await raw.next()];
    expect(answered.map((answer) => answer?.id).sort()).toEqual([1, 2]);
    for (const answer of answered) {
      const [{ text }] = answer!.result!["content"] as [{ text: string }];
      expect(text === content).toBeTrue();
    }
    expect(await raw.next()).toBeUndefined();
    expect(await raw.exited).toBe(0);
  });

  test("finishes the calls under way when it is told to stop", async () => {
    using raw = startRaw(subject, { ...endlessSearch, config: { call_timeout_ms: 1000 } });
    await raw.initialize();
    raw.callTool(1, "coder_search", slowSearch);
    raw.callTool(2, "coder_read_file", { path: "none" });
    expect(await raw.next()).toMatchObject({ id: 2 });
    raw.child.kill("SIGTERM");
    expect(await raw.next()).toMatchObject({
      id: 1,
      result: { content: [{ text: expect.stringContaining("[stopped by deadline; ") }] },
    });
    expect(await raw.next()).toBeUndefined();
    expect(await raw.exited).toBe(0);
  });

  test("refuses a request with the id of one under way, which gets its own answer", async () => {
    using raw = startRaw(subject, { ...endlessSearch, config: { call_timeout_ms: 1000 } });
    await raw.initialize();
    raw.callTool(1, "coder_search", slowSearch);
    raw.callTool(1, "coder_read_file", { path: "none" });
    expect(await raw.next()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(await raw.next()).toMatchObject({
      id: 1,
      result: { content: [{ text: expect.stringContaining("[stopped by deadline; ") }] },
    });
    raw.callTool(1, "coder_read_file", { path: "none" });
    expect(await raw.next()).toMatchObject({ id: 1, result: { isError: true } });
  });

  test("stops a search that is cancelled", async () => {
    await using connected = await connectStdio(subject, endlessSearch);
    const cancel = new AbortController();
    const call = connected.client
      .callTool({ name: "coder_search", arguments: slowSearch }, { signal: cancel.signal })
      .catch((error: Error) => error.message);
    // The program answers another call during the search.
    expect((await connected.call("coder_read_file", { path: "none" })).isError).toBe(true);
    cancel.abort("enough");
    expect(await call).toContain("enough");
    await untilSearchStopped(connected, connected.pid);
  });

  test("stops a batch that is cancelled between two of its entries", async () => {
    await using connected = await connectStdio(subject);
    const files = Array.from({ length: 1000 }, (_, number) => ({ path: `${number}.txt`, content: "x" }));
    const watcher = watchFolder(connected.base);
    const began = once(watcher, "change");
    const cancel = new AbortController();
    const call = connected.client
      .callTool({ name: "coder_create_file", arguments: { files } }, { signal: cancel.signal })
      .catch((error: Error) => error.message);
    await began;
    watcher.close();
    cancel.abort("enough");
    expect(await call).toContain("enough");
    await connected.waitForStderr(/"function":"coder::create-file"/);
    const made = readdirSync(connected.base);
    expect(made.length).toBeLessThan(files.length);
    await waitUntilIdle(connected.pid);
    expect(readdirSync(connected.base)).toEqual(made);
  });

  test("tells the progress of a long call to a client that asks", async () => {
    await using connected = await connectStdio(subject, endlessSearch);
    const cancel = new AbortController();
    const reported: unknown[] = [];
    const onprogress = (progress: unknown) => {
      reported.push(progress);
      cancel.abort("enough");
    };
    const options = { signal: cancel.signal, onprogress };
    const call = connected.client.callTool({ name: "coder_search", arguments: slowSearch }, options);
    expect(await call.catch((error: Error) => error.message)).toContain("enough");
    expect(reported).toEqual([{ progress: 1, total: 600, message: "working for 1 s" }]);
  });

  test("answers with as much as one message of the bus carries, and not with more", async () => {
    const most = 16 * 1024 * 1024 - 64 * 1024;
    const tree = { fits: "x".repeat(most - 200), over: "x".repeat(most) };
    const config = { max_read_bytes: most, profile: "contract" };
    await using connected = await connectStdio(subject, { tree, config, args: ["--structured"] });
    const fits = await connected.call("coder_read_file", { path: "fits" });
    expect((fits.structuredContent as { content: string }).content).toBe(tree.fits);
    expect(textOf(fits)).toMatch(/^x+\n\[cut: 1048576 of \d+ characters; structuredContent has them all\]$/);
    const over = await connected.call("coder_read_file", { path: "over" });
    expect(JSON.parse(textOf(over)).code).toBe("C213");
  });

  test("sends no more at once than clients take unless told otherwise", async () => {
    const maxBufferSize = 10 * 1024 * 1024;
    const tree = {
      fits: "x".repeat(9.5 * 1024 * 1024),
      escaped: "\u0001".repeat(1.6 * 1024 * 1024),
      over: "x".repeat(maxBufferSize),
    };
    const config = { profile: "contract" };
    await using connected = await connectStdio(subject, {
      tree,
      config,
      maxBufferSize,
      args: ["--structured"],
    });
    for (const path of ["fits", "escaped"] as const) {
      const read = await connected.call("coder_read_file", { path });
      expect((read.structuredContent as { content: string }).content).toBe(tree[path]);
      expect(textOf(read)).toEndWith(`of ${tree[path].length} characters; structuredContent has them all]`);
    }
    const over = await connected.call("coder_read_file", { path: "over" });
    expect(JSON.parse(textOf(over)).code).toBe("C213");
    const resource = connected.client.readResource({ uri: "coder:///over" });
    expect(await resource.catch((error: Error) => error.message)).toContain("C213");
  });

  test("sends a text whole that one message carries", async () => {
    const maxBufferSize = 10 * 1024 * 1024;
    const tree = { fits: `${"x".repeat(9.5 * 1024 * 1024)}\n` };
    await using connected = await connectStdio(subject, { tree, maxBufferSize });
    const all = { path: "fits", max_output_bytes: maxBufferSize };
    expect(textOf(await connected.call("coder_read_file", all))).toBe(tree.fits);
    const { contents } = await connected.client.readResource({ uri: "coder:///fits" });
    expect(contents).toMatchObject([{ text: tree.fits }]);
  });

  test("takes a file as large as max_write_bytes, escaped", async () => {
    await using connected = await connectStdio(subject);
    const content = "\n".repeat(10 * 1024 * 1024);
    const result = await connected.call("coder_create_file", { files: [{ path: "a", content }] });
    expect(textOf(result)).toBe("a: created, 10485760 bytes\n#1");
  });

  test("shows the client's roots and stays in its own folder", async () => {
    const client = { capabilities: { roots: { listChanged: true } } };
    const { root, remove } = makeMcpFolder({ tree: { "a.txt": "a" } });
    await using connected = await connectStdio(subject, { client });
    connected.client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${root}` }] }));
    await connected.client.sendRootsListChanged();
    await connected.waitForStderr(new RegExp(`client roots.*file://${root}`));
    const outside = await connected.call("coder_read_file", { path: `${root}/base/a.txt` });
    expect(textOf(outside)).toStartWith("C215 ");
    remove();
  });
});
