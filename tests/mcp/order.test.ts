/**
 * The calls of a session take effect in their order of arrival. Clients send several calls of one turn at
 * once, and a model that creates and edits a file in one turn expects that to work.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as open } from "node:http";
import { join } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { propertyRuns } from "../harness/random.ts";
import { snapshotTree } from "../harness/tree.ts";
import { connectStdio, endlessSearch, slowSearch, textOf } from "./client.ts";
import { startHttp } from "./http-fixture.ts";

type Payload = Record<string, unknown>;
type Send = (tool: string, payload: Payload) => Promise<CallToolResult>;

interface Session extends AsyncDisposable {
  readonly client: Client;
  readonly send: Send;
}

async function overStdio(): Promise<Session> {
  const { call, ...connected } = await connectStdio("executable");
  return {
    client: connected.client,
    send: call,
    [Symbol.asyncDispose]: () => connected[Symbol.asyncDispose](),
  };
}

async function overHttp(): Promise<Session> {
  const server = await startHttp("executable");
  const client = new Client({ name: "tests", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(server.url);
  await client.connect(transport);
  const session = { "mcp-session-id": transport.sessionId! };
  let [id, arrived] = [1000, Promise.resolve()];
  return {
    client,
    /** Sends a call once the server has the headers of the one before. A client has several connections. */
    async send(name, given) {
      const before = arrived;
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived = promise;
      await before;
      const message = toolCall(id++, name, given);
      const request = post(server.url, message, { ...session, expect: "100-continue" });
      request.flushHeaders();
      await once(request, "continue");
      resolve();
      const [response] = (await once(request.end(JSON.stringify(message)), "response")) as [IncomingMessage];
      return answerOf(response);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const rpc = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });

const toolCall = (id: number, name: string, given: Payload) =>
  rpc(id, "tools/call", { name, arguments: given });

/** Opens a request for the message. The caller sends the body. */
const post = (url: URL, message: object, headers: Readonly<Record<string, string>> = {}) =>
  open(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": String(Buffer.byteLength(JSON.stringify(message))),
      ...headers,
    },
  });

async function answerOf(response: IncomingMessage): Promise<CallToolResult> {
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  return JSON.parse(/\{.*\}/.exec(text)![0]).result as CallToolResult;
}

describe.each([
  ["stdio", overStdio],
  ["HTTP", overHttp],
])("calls that are sent at once over %s", (_, begin) => {
  let session: Session;
  const send: Send = (...call) => session.send(...call);

  beforeAll(async () => {
    session = await begin();
  });

  afterAll(() => session[Symbol.asyncDispose]());

  const edit = (path: string, from: string, to: string) =>
    send("coder_update_file", { path, ops: [{ op: "str_replace", old_str: from, new_str: to }] });

  /** Sends the calls of a turn at once, and turns one by one. Returns the last text of each turn. */
  async function lastOf(
    turns: number,
    turn: (index: number) => Promise<CallToolResult>[],
  ): Promise<string[]> {
    const shown = [];
    for (let index = 0; index < turns; index++) shown.push(textOf((await Promise.all(turn(index))).at(-1)!));
    return shown;
  }

  test("an edit finds the file that was created before it, and a read its change", async () => {
    const shown = await lastOf(60, (index) => [
      send("coder_create_file", { path: `created/${index}.txt`, content: "one\n" }),
      edit(`created/${index}.txt`, "one", "two"),
      send("coder_read_file", { path: `created/${index}.txt` }),
    ]);
    expect(shown).toEqual(Array.from({ length: 60 }, () => "two\n"));
  });

  test("a call that makes no folders finds those that an earlier one makes", async () => {
    await send("coder_create_file", { path: "source.txt", content: "" });
    const folder = (index: number) => `parents/${index}/deep`;
    const second: ((index: number) => [tool: string, payload: Payload])[] = [
      (index) => ["coder_create_file", { path: `${folder(index)}/new`, content: "", parents: false }],
      (index) => ["coder_copy", { from: "source.txt", to: `${folder(index)}/new`, parents: false }],
      (index) => ["coder_move", { from: `move-${index}.txt`, to: `${folder(index)}/new`, parents: false }],
    ];
    const turns = 30;
    await send("coder_create_file", {
      files: Array.from({ length: turns }, (_, index) => ({ path: `move-${index}.txt`, content: "" })),
    });
    const failed = [];
    for (let index = 0; index < turns; index++) {
      const [tool, payload] = second[index % second.length]!(index);
      const answers = await Promise.all([
        send("coder_create_file", { path: `${folder(index)}/first.txt`, content: "" }),
        send(tool, payload),
      ]);
      failed.push(...answers.filter(({ isError }) => isError).map(textOf));
    }
    expect(failed).toEqual([]);
  });

  test("a read shows the edit before it, and not the one after it", async () => {
    await send("coder_create_file", { path: "read.txt", content: "0.\n" });
    const shown = await lastOf(60, (index) => {
      const first = edit("read.txt", `${index}.`, `${index}!`);
      const read = send("coder_read_file", { path: "read.txt" });
      const second = edit("read.txt", `${index}!`, `${index + 1}.`);
      return [first, second, read];
    });
    expect(shown).toEqual(Array.from({ length: 60 }, (_, index) => `${index}!\n`));
  });

  test("no call overtakes one whose thousand entries are still being read", async () => {
    const shown = await lastOf(2, (index) => [
      send("coder_create_file", {
        files: Array.from({ length: 1000 }, (_, file) => ({
          path: `many/${index}/${file}`,
          content: "one\n",
        })),
      }),
      edit(`many/${index}/999`, "one", "two"),
      send("coder_read_file", { path: `many/${index}/999` }),
    ]);
    expect(shown).toEqual(["two\n", "two\n"]);
  });

  test("a refused request of any kind holds up none after it", async () => {
    const refused = [
      session.client.readResource({ uri: "coder:///%" }),
      session.client.readResource({ uri: "file:///etc/passwd" }),
      session.client.callTool({ name: "no_such_tool" }),
      session.client.request({ method: "resources/list", params: { cursor: "-1" } }),
    ].map((request) => request.catch((error: { code: number }) => error.code));
    const write = send("coder_create_file", { path: "after.txt", content: "" });
    expect(await Promise.all(refused)).toEqual([-32602, -32602, -32602, -32602]);
    expect((await write).isError).toBeUndefined();
  });

  test("a search finds the file that was created before it", async () => {
    const shown = await lastOf(40, (index) => [
      send("coder_create_file", { path: `found/${index}.txt`, content: `needle${index}.\n` }),
      send("coder_search", { query: `needle${index}.`, search_paths: false }),
    ]);
    expect(shown).toEqual(shown.map((_, index) => expect.stringContaining(`found/${index}.txt`)));
  });
});

test("a path through links follows what the calls before it make of them", async () => {
  await using connected = await connectStdio("executable");
  const { base, call } = connected;
  for (let index = 0; index < 20; index++) {
    symlinkSync(`made${index}`, join(base, `link${index}`));
    const read = (path: string) => call("coder_read_file", { path });
    const turn = [
      // The link is still dangling when the server receives the reads.
      call("coder_create_file", { path: `made${index}/a`, content: "one\n" }),
      read(`link${index}/a`),
      // The path leads through a link only after the previous call has ended.
      call("coder_move", { files: [{ from: `link${index}`, to: `moved${index}` }] }),
      call("coder_create_file", { path: `moved${index}/b`, content: "two\n" }),
      read(`made${index}/b`),
    ];
    const [, first, , , second] = (await Promise.all(turn)).map(textOf);
    expect([first, second]).toEqual(["one\n", "two\n"]);
  }
});

test("a search holds up a later write, and no read; cancelled, it lets the write begin", async () => {
  await using connected = await connectStdio("executable", endlessSearch);
  const { client, call } = connected;
  const cancelled = new AbortController();
  const search = client
    .callTool({ name: "coder_search", arguments: slowSearch }, { signal: cancelled.signal })
    .catch(() => "cancelled");
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const write = call("coder_create_file", { path: "new.txt", content: "new" }).then(note("write"));
  const later = call("coder_read_file", { path: "new.txt" }).then(note("read of what is written"));
  await call("coder_read_file", { path: "f0", tail: 1 }).then(note("another read"));
  expect(done).toEqual(["another read"]);
  cancelled.abort();
  expect(await search).toBe("cancelled");
  await Promise.all([write, later]);
  expect(done).toEqual(["another read", "write", "read of what is written"]);
});

test("the time of a call begins when the calls before it have ended", async () => {
  await using connected = await connectStdio("executable", {
    ...endlessSearch,
    config: { call_timeout_ms: 1500 },
  });
  const search = () => connected.call("coder_search", slowSearch);
  const write = (index: number) =>
    connected.call("coder_create_file", { path: `new${index}.txt`, content: "new" });
  // Each search takes the whole timeout of a call.
  const [, first, , second] = await Promise.all([search(), write(1), search(), write(2)]);
  expect([first.isError, second.isError]).toEqual([undefined, undefined]);
});

test("a call of a function on files takes as long as configured, also beside commands", async () => {
  await using connected = await connectStdio("executable", {
    ...endlessSearch,
    args: ["--commands", "--allow", "sleep"],
    config: { call_timeout_ms: 1500 },
  });
  const { client } = connected;
  const totals: (number | undefined)[] = [];
  const onprogress = ({ total }: { total?: number | undefined }) => totals.push(total);
  const searched = await client.callTool({ name: "coder_search", arguments: slowSearch }, { onprogress });
  expect(textOf(searched)).toContain("[stopped by deadline; ");
  const command = { command: "sleep", args: ["2"] };
  await client.callTool({ name: "shell_exec", arguments: command }, { onprogress });
  expect(new Set(totals)).toEqual(new Set([2, 60]));
});

test("a command of the shell worker and its file functions are in order, and its jobs wait for nothing", async () => {
  await using connected = await connectStdio("executable", {
    args: ["--worker", "shell", "--tools", "all"],
    config: { allowlist: ["touch", "ls", "sleep"] },
    configure: (base) => ({ base_path: undefined, fs: { host_root: base }, working_dir: base }),
  });
  const { base, call } = connected;
  const path = join(base, "new");
  const results = [
    call("shell_fs_mkdir", { path, parents: true }),
    call("shell_exec", { command: "touch new/made" }),
    call("shell_fs_ls", { path }),
    call("shell_fs_mv", { src: join(path, "made"), dst: join(path, "moved") }),
    call("shell_exec", { command: "ls new" }),
  ];
  const listed = (await Promise.all(results)).map(textOf);
  expect(listed[2]).toContain("made");
  expect(listed[4]).toContain("moved");
  const order: string[] = [];
  await Promise.all([
    call("shell_exec", { command: "sleep 0.3" }).then(() => order.push("exec")),
    call("shell_list", {}).then(() => order.push("list")),
  ]);
  expect(order).toEqual(["list", "exec"]);
});

test("over HTTP, a small call waits for a large one whose body is still on its way", async () => {
  await using server = await startHttp("executable");
  const send = (message: object, headers?: Record<string, string>) => post(server.url, message, headers);
  const clientInfo = { name: "raw", version: "1" };
  const initialize = rpc(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const [begun] = (await once(send(initialize).end(JSON.stringify(initialize)), "response")) as [
    IncomingMessage,
  ];
  begun.resume();
  const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]) };
  const create = toolCall(1, "coder_create_file", { path: "large.txt", content: "line\n".repeat(50_000) });
  // The server requests the body after it has the headers.
  const creating = send(create, { ...session, expect: "100-continue" });
  creating.flushHeaders();
  await once(creating, "continue");
  const read = toolCall(2, "coder_read_file", { path: "large.txt", tail: 1 });
  const reading = send(read, session).end(JSON.stringify(read));
  const ping = rpc(3, "ping", {});
  // A ping needs no order. Its answer shows that the server has received the read too.
  const [pong] = (await once(send(ping, session).end(JSON.stringify(ping)), "response")) as [IncomingMessage];
  expect(await answerOf(pong)).toEqual({} as CallToolResult);
  creating.end(JSON.stringify(create));
  const [[created], [shown]] = (await Promise.all([
    once(creating, "response"),
    once(reading, "response"),
  ])) as [[IncomingMessage], [IncomingMessage]];
  expect((await answerOf(created)).isError).toBeUndefined();
  expect(textOf(await answerOf(shown))).toStartWith("line\n");
});

/**
 * Paths for random calls, which may move, copy, remove and create each of them. `link` leads to `kept`, and
 * `d/up` leads to `link`.
 */
const path = fc.constantFrom(
  ...["a", "b", "d/a", "d/e/b", "d", "d/e", "new/a"],
  ...["kept", "kept/a", "link", "link/a", "link/../b", "d/up", "d/up/a"],
);
const text = fc.constantFrom("one\n", "two\n", "one\ntwo\n", "");
const word = fc.constantFrom("one", "two", "three");
const editing = fc.record({ op: fc.constant("str_replace"), old_str: word, new_str: word });

/** Random calls, often on the same paths. Their paths are relative to the folder of a run. */
const call: fc.Arbitrary<readonly [tool: string, payload: (at: (path: string) => string) => Payload]> =
  fc.oneof(
    fc
      .tuple(path, text, fc.boolean())
      .map(
        ([one, content, overwrite]) =>
          [
            "coder_create_file",
            (at: (path: string) => string) => ({ path: at(one), content, overwrite }),
          ] as const,
      ),
    fc
      .tuple(path, editing)
      .map(
        ([one, op]) =>
          ["coder_update_file", (at: (path: string) => string) => ({ path: at(one), ops: [op] })] as const,
      ),
    path.map((one) => ["coder_read_file", (at: (path: string) => string) => ({ path: at(one) })] as const),
    fc
      .tuple(path, fc.boolean())
      .map(
        ([one, recursive]) =>
          ["coder_delete_file", (at: (path: string) => string) => ({ paths: [at(one)], recursive })] as const,
      ),
    fc
      .tuple(fc.constantFrom("coder_move", "coder_copy"), path, path, fc.boolean())
      .map(
        ([tool, from, to, overwrite]) =>
          [
            tool,
            (at: (path: string) => string) => ({ files: [{ from: at(from), to: at(to), overwrite }] }),
          ] as const,
      ),
    fc.tuple(path, path, text).map(
      ([one, other, content]) =>
        [
          "coder_transact",
          (at: (path: string) => string) => ({
            changes: [
              { op: "create", path: at(one), content, overwrite: true },
              { op: "delete", path: at(other) },
            ],
          }),
        ] as const,
    ),
    fc.tuple(path, word).map(
      ([one, name]) =>
        [
          "coder_apply_patch",
          (at: (path: string) => string) => ({
            patch: `*** Begin Patch\n*** Update File: ${at(one)}\n@@\n-${name}\n+three\n*** End Patch\n`,
          }),
        ] as const,
    ),
    word.map(
      (query) => ["coder_search", (at: (path: string) => string) => ({ query, path: at("") })] as const,
    ),
    fc
      .constantFrom("coder_tree", "coder_list_folder")
      .map((tool) => [tool, (at: (path: string) => string) => ({ path: at("") })] as const),
  );

test("calls at once have the answers of the same calls one by one, and leave the same tree", async () => {
  await using together = await connectStdio("executable");
  await using apart = await connectStdio("executable");
  let runs = 0;
  const prepare = () => {
    const run = `run${runs++}`;
    const folder = `${run}/base`;
    for (const { base } of [together, apart]) {
      for (const name of ["d/e", "kept"]) mkdirSync(join(base, folder, name), { recursive: true });
      for (const name of ["a", "d/a", "d/e/b", "kept/a"])
        writeFileSync(join(base, folder, name), `one\nof ${name}\n`);
      symlinkSync("kept", join(base, folder, "link"));
      symlinkSync("../link", join(base, folder, "d/up"));
    }
    return { run, at: (path: string) => (path === "" ? folder : `${folder}/${path}`) };
  };
  // The ids of transactions are random. Suggestions depend on when the worker last listed the whole tree.
  const shown = (result: CallToolResult) => [
    result.isError,
    textOf(result)
      .replaceAll(/\b[\da-f]{16,}\b/g, "<id>")
      .replaceAll(/(?<=\n#)\d+$/g, "<seq>")
      .replace(/(is not found, or the configuration denies it)[.;].*/g, "$1"),
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 10 }), async (calls) => {
      const { run, at } = prepare();
      const sent = calls.map(([tool, payload]) => together.call(tool, payload(at)));
      const expected = [];
      for (const [tool, payload] of calls) expected.push(shown(await apart.call(tool, payload(at))));
      expect((await Promise.all(sent)).map(shown)).toEqual(expected);
      expect(snapshotTree(join(together.base, run))).toEqual(snapshotTree(join(apart.base, run)));
    }),
    propertyRuns(50),
  );
});
