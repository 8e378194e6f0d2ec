import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { request as open } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { defaultSubjects, runCoder, stateFolder } from "../harness/subject.ts";
import { endlessSearch, slowSearch, textOf, untilSearchStopped } from "./client.ts";
import { type HttpFixture, startHttp } from "./http-fixture.ts";

const token = "a-token-of-the-tests";

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** Sends a POST with exactly these headers, including Host. */
function post(url: URL, headers: Record<string, string>, body: string | Buffer = ping): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const usual = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const sending = open(url, { method: "POST", headers: { ...usual, ...headers } }, async (response) => {
      let text = "";
      for await (const piece of response.setEncoding("utf8")) text += piece;
      resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers });
    });
    sending.on("error", reject).end(body);
  });
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});

const revisions: [revision: string, options: ClientOptions][] = [
  ["2025-11-25", {}],
  ["2026-07-28", { versionNegotiation: { mode: "auto" } }],
];

describe.each(defaultSubjects)("the %s over HTTP", (subject) => {
  let server: HttpFixture;

  beforeAll(async () => {
    server = await startHttp(subject, { tree: { "a.txt": "a\n" } });
  });

  afterAll(() => server[Symbol.asyncDispose]());

  test("listens on loopback alone", () => {
    expect(server.url.hostname).toBe("127.0.0.1");
    expect(server.url.pathname).toBe("/mcp");
  });

  test.each(revisions)("serves a client of revision %s", async (revision, options) => {
    const client = new Client({ name: "tests", version: "1.0.0" }, options);
    await client.connect(new StreamableHTTPClientTransport(server.url));
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const result = await client.callTool({ name: "coder_read_file", arguments: { path: "a.txt" } });
    expect(textOf(result as CallToolResult)).toBe("a\n");
    await client.close();
  });

  test.each(
    revisions.flatMap(([revision, options]) => [
      [revision, "text", [], options] as const,
      [revision, "structured content", ["--structured"], options] as const,
    ]),
  )("answers a client of revision %s in full, however large, as %s", async (_, form, flags, options) => {
    const content = 'é🙂"\\\n'.repeat(400_000);
    const args = ["--http", "0", "--no-token", ...flags];
    await using large = await startHttp(subject, { tree: { "a.txt": content }, args });
    const client = new Client({ name: "tests", version: "1.0.0" }, options);
    await client.connect(new StreamableHTTPClientTransport(large.url));
    const called = {
      name: "coder_read_file",
      arguments: { path: "a.txt", max_output_bytes: 16_000_000 },
    };
    const results = await Promise.all([client.callTool(called), client.callTool(called)]);
    for (const result of results as CallToolResult[]) {
      const structured = result.structuredContent as { content: string } | undefined;
      expect(structured === undefined).toBe(form === "text");
      expect((structured?.content ?? textOf(result)) === content).toBeTrue();
    }
    await client.close();
  });

  test.each(revisions)(
    "tells a client of revision %s the progress of a search, and stops it",
    async (_, options) => {
      await using slow = await startHttp(subject, endlessSearch);
      const client = new Client({ name: "tests", version: "1.0.0" }, options);
      await client.connect(new StreamableHTTPClientTransport(slow.url));
      const cancel = new AbortController();
      const call = client.callTool(
        { name: "coder_search", arguments: slowSearch },
        { signal: cancel.signal, onprogress: () => cancel.abort("enough") },
      );
      expect(await call.catch((error: Error) => error.message)).toContain("enough");
      await untilSearchStopped(slow, slow.child.pid as number);
      await client.close();
    },
  );

  // In older revisions, a lost connection does not cancel a call, because the client may reconnect (MCP
  // 2025-11-25, basic/transports).
  test("stops the search of a client of revision 2026-07-28 that has gone", async () => {
    await using slow = await startHttp(subject, endlessSearch);
    const client = new Client({ name: "tests", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    const gone = new AbortController();
    const transport = new StreamableHTTPClientTransport(slow.url, {
      fetch: (url, init) => fetch(url, { ...init, signal: gone.signal }),
    });
    await client.connect(transport);
    const called = { name: "coder_search", arguments: slowSearch };
    void client.callTool(called, { onprogress: () => gone.abort() }).catch(() => {});
    await untilSearchStopped(slow, slow.child.pid as number);
    await client.close();
  });

  test("clients of revision 2026-07-28 have no session that changes and undo could be of", async () => {
    await using folder = await startHttp(subject, { env: { XDG_STATE_HOME: stateFolder() } });
    const connect = async (options: ClientOptions) => {
      const client = new Client({ name: "new", version: "1" }, options);
      await client.connect(new StreamableHTTPClientTransport(folder.url));
      const call = async (name: string, args: Record<string, unknown> = {}) => {
        const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
        return `${result.isError ? "ERROR: " : ""}${textOf(result)}`;
      };
      return { client, call };
    };
    const [one, other] = [await connect(revisions[1]![1]), await connect(revisions[1]![1])];
    const old = await connect({});
    expect(one.client.getInstructions()).toContain("You have no session here");
    expect(old.client.getInstructions()).not.toContain("You have no session here");
    const created = await one.call("coder_create_file", { path: "new1.txt", content: "" });
    const seq = Number(/#(\d+)$/.exec(created)?.[1]);
    const begun = await one.call("coder_changes");
    expect(begun).toStartWith(
      "[changes are listed from now on; coder_checkpoints lists those made by earlier",
    );
    expect(begun).not.toContain("session");
    const since = /\[since (\S+) for/.exec(begun)?.[1];
    await other.call("coder_create_file", { path: "new2.txt", content: "" });
    expect(await one.call("coder_changes", { since })).toContain(
      "created: new2.txt (coder_create_file by new 1 (without a session))",
    );
    expect(await other.call("coder_undo")).toStartWith(
      "ERROR: C210 invalid_argument: This client has no session, so its checkpoints cannot be",
    );
    expect(existsSync(join(folder.base, "new1.txt"))).toBe(true);
    const undone = await one.call("coder_undo", { seq });
    expect(undone).toContain(`Undone; coder_undo with seq ${seq + 2} takes this undo back.`);
    expect(existsSync(join(folder.base, "new1.txt"))).toBe(false);
    // A session of their name is another author.
    expect(await old.call("coder_undo")).toStartWith("ERROR: C210 invalid_argument: No checkpoint of yours");
    for (const { client } of [one, other, old]) await client.close();
  });

  test("cancelled and timed-out calls of the official client keep no connection", async () => {
    const args = ["--http", "0", "--no-token", "--commands", "--allow", "sleep"];
    await using sleeping = await startHttp(subject, { args });
    let endedStreams = 0;
    const countEnds = (response: Response) => {
      const counted = new TransformStream({ flush: () => void endedStreams++ });
      return new Response(response.body?.pipeThrough(counted), response);
    };
    const transport = new StreamableHTTPClientTransport(sleeping.url, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        return init?.body?.toString().includes("shell_exec") ? countEnds(response) : response;
      },
    });
    const client = new Client({ name: "tests", version: "1.0.0" });
    await client.connect(transport);
    const called = { name: "shell_exec", arguments: { command: "sleep", args: ["600"] } };
    const cancel = new AbortController();
    const cancelled = Array.from({ length: 3 }, () =>
      client.callTool(called, { signal: cancel.signal, onprogress: () => cancel.abort("enough") }),
    );
    const late = client.callTool(called, { timeout: 1500 });
    const results = await Promise.allSettled([...cancelled, late]);
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    while (endedStreams < 4) await new Promise((resolve) => setImmediate(resolve));
    await client.close();
  });

  test("two requests under way with one id get no answer of each other", async () => {
    const args = ["--http", "0", "--no-token", "--commands", "--allow", "sh"];
    await using waiting = await startHttp(subject, { args, tree: { "a.txt": "a\n" } });
    const session = await post(waiting.url, {}, initialize);
    const header = { "mcp-session-id": session.headers["mcp-session-id"] as string };
    const callOf = (id: number, name: string, given: object) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } });
    const line = "echo > began; until [ -e go ]; do sleep 0.01; done; echo slept";
    const first = post(waiting.url, header, callOf(7, "shell_exec", { command: "sh", args: ["-c", line] }));
    while (!existsSync(join(waiting.base, "began"))) await new Promise((resolve) => setImmediate(resolve));
    const create = { path: "b.txt", content: "" };
    const second = await post(waiting.url, header, callOf(7, "coder_create_file", create));
    expect(second.status).toBe(400);
    expect(JSON.parse(second.body)).toMatchObject({ id: 7, error: { code: -32600 } });
    expect(existsSync(join(waiting.base, "b.txt"))).toBe(false);
    writeFileSync(join(waiting.base, "go"), "");
    expect((await first).body).toContain("slept");
  });

  test.each([
    ["another host, as after DNS rebinding", { host: "evil.example" }, 403],
    ["another host with this port", { host: "evil.example:80" }, 403],
    ["the page of another site", { origin: "https://evil.example" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a name that only begins as loopback", { host: "127.0.0.1.evil.example" }, 403],
    ["a form instead of JSON", { "content-type": "text/plain" }, 415],
    ["a session that is not there", { "mcp-session-id": "0" }, 404],
  ])("refuses %s", async (_, headers, status) => {
    expect((await post(server.url, headers)).status).toBe(status);
  });

  test("takes its own page, and without a token none of another port", async () => {
    const headers = { host: "localhost:1", origin: "http://localhost:1" };
    expect((await post(server.url, headers, initialize)).status).toBe(200);
    const other = { ...headers, origin: "http://localhost:3000" };
    expect((await post(server.url, other, initialize)).status).toBe(403);
  });

  test.each(["when the second is over", "at the stop"])("logs every refusal %s", async (end) => {
    await using flooded = await startHttp("executable");
    const headers = { origin: "https://evil.example" };
    for (let request = 0; request < 8; request++) await post(flooded.url, headers, initialize);
    if (end === "at the stop") flooded.child.kill("SIGTERM");
    await flooded.waitForStderr(/"more":\d+[^\n]*\n/);
    const lines = flooded
      .stderr()
      .split("\n")
      .filter((line) => line.includes("request refused"));
    const counts = lines.map((line) => 1 + ((JSON.parse(line) as { more?: number }).more ?? 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
  });

  /** More items than a message may have, and than each of ten in a batch may. */
  const [manyItems, someItems] = [2001, 201].map((count) => Array(count).fill(0).join());

  test("refuses what is no JSON, and what is not at its path", async () => {
    expect((await post(server.url, {}, "nonsense")).status).toBe(400);
    expect((await post(new URL("/", server.url), {})).status).toBe(404);
    expect((await fetch(server.url, { method: "PUT" })).status).toBe(405);
  });

  test.each([
    ["nonsense", 400, { id: null, error: { code: -32700 } }],
    ["null", 400, { id: null, error: { code: -32600 } }],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', 400, { id: 7, error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","id":"a","method":5}', 400, { id: "a", error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', 400, { id: 7, error: { code: -32600 } }],
    ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}', 400, { id: null }],
    ["[]", 400, { id: null, error: { code: -32600 } }],
    [`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"a":[${manyItems}]}}}`, 400, { id: 7 }],
    [
      `[${Array(10).fill(`{"jsonrpc":"2.0","method":"x","params":{"a":[${someItems}]}}`)}]`,
      400,
      { id: null },
    ],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":null,"extra":1}', 200, { id: 7, result: {} }],
    ['[{"jsonrpc":"2.0","id":7,"method":"ping"}]', 200, { id: 7, result: {} }],
  ])("answers %s with %d", async (body, status, message) => {
    const session = (await post(server.url, {}, initialize)).headers["mcp-session-id"] as string;
    const answer = await post(server.url, { "mcp-session-id": session }, body);
    expect(answer.status).toBe(status);
    // The body is either a stream of events or the message itself.
    expect(JSON.parse(answer.body.match(/\{.*\}/)?.[0] ?? "")).toMatchObject(message);
  });

  test.each([
    [ping, 1],
    [`[${ping}]`, null],
    [JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }), null],
  ])("says to %s without a session how to begin one", async (body, id) => {
    const answer = await post(server.url, {}, body);
    expect(answer.status).toBe(400);
    const message = expect.stringContaining("Send initialize, and with each later request the header");
    expect(JSON.parse(answer.body)).toEqual({ jsonrpc: "2.0", id, error: { code: -32000, message } });
    const stream = await fetch(server.url, { headers: { accept: "text/event-stream" } });
    expect([stream.status, await stream.text()]).toEqual([400, expect.stringContaining("Send initialize")]);
  });

  test("names the id of a request whose session has ended", async () => {
    const answer = await post(server.url, { "mcp-session-id": "0" });
    expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32000 } });
  });

  test("refuses a compressed body, and says what it takes", async () => {
    const body = gzipSync(ping);
    const answer = await post(server.url, { ...(await beginSession()), "content-encoding": "gzip" }, body);
    expect([answer.status, answer.headers["accept-encoding"]]).toEqual([415, "identity"]);
    expect(JSON.parse(answer.body).error.message).toStartWith('The header Content-Encoding is "gzip"');
    const plain = await post(server.url, { ...(await beginSession()), "content-encoding": "Identity" });
    expect(plain.status).toBe(200);
  });

  const beginSession = async () => ({
    "mcp-session-id": (await post(server.url, {}, initialize)).headers["mcp-session-id"] as string,
  });

  test("refuses a body that is not UTF-8", async () => {
    const call = { name: "coder_create_file", arguments: { path: "made", content: "\xff" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: call });
    const answer = await post(server.url, await beginSession(), Buffer.from(body, "latin1"));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({
      id: null,
      error: { code: -32700, message: expect.stringContaining("UTF-8") },
    });
  });

  test.each([false, true])("takes arguments that are null as absent, in a batch: %p", async (isBatch) => {
    const call = { name: "coder_list_folder", arguments: null };
    const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params: call };
    const answer = await post(
      server.url,
      await beginSession(),
      JSON.stringify(isBatch ? [message] : message),
    );
    expect(JSON.parse(/\{.*\}/.exec(answer.body)![0]).result.content[0].text).toContain("a.txt");
  });

  test.each(["*/*", "application/json, */*;q=0.5", "text/*, application/*", ""])(
    "takes a request whose Accept is %p",
    async (accept) => {
      expect((await post(server.url, { ...(await beginSession()), accept })).status).toBe(200);
    },
  );

  test("refuses a request that takes neither kind of answer", async () => {
    expect((await post(server.url, { ...(await beginSession()), accept: "text/html" })).status).toBe(406);
  });

  test("is at /mcp/ too", async () => {
    expect((await post(new URL("/mcp/", server.url), {}, initialize)).status).toBe(200);
    expect((await post(new URL("/mcp/?a=b", server.url), {}, initialize)).status).toBe(200);
    expect((await post(new URL("/mcp/x", server.url), {}, initialize)).status).toBe(404);
  });

  test("a second stream of notifications takes the place of the first, which ends", async () => {
    const session = await beginSession();
    const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect((await post(server.url, session, initialized)).status).toBe(202);
    const uri = "coder:///a.txt";
    const subscribe = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } };
    await post(server.url, session, JSON.stringify(subscribe));
    const openStream = async () => {
      const asking = open(server.url, {
        headers: { accept: "text/event-stream", ...session },
        agent: false,
      }).end();
      const [response] = (await once(asking, "response")) as [Readable & { readonly statusCode: number }];
      expect(response.statusCode).toBe(200);
      return response;
    };
    const first = await openStream();
    const ended = once(first.resume(), "end");
    const second = await openStream();
    await ended;
    const third = await openStream();
    await once(second.resume(), "end");
    const edit = {
      name: "coder_create_file",
      arguments: { path: "a.txt", content: "changed\n", overwrite: true },
    };
    await post(
      server.url,
      session,
      JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: edit }),
    );
    const [news] = await once(third, "data");
    expect(String(news)).toContain("notifications/resources/updated");
    third.destroy();
  });

  test("refuses a body over its limit before it is read", async () => {
    const answer = await post(
      server.url,
      { "content-length": String(2 ** 30), expect: "100-continue" },
      "",
    ).catch((error: Error) => error.message);
    expect(answer).toMatchObject({ status: 413 });
  });

  test("refuses a body in thousands of chunks of a byte", async () => {
    const socket = connect(Number(server.url.port), server.url.hostname);
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: ${server.url.host}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${"1\r\n \r\n".repeat(2000)}`);
    const [answer] = await once(socket, "data");
    socket.destroy();
    expect(String(answer)).toStartWith("HTTP/1.1 400");
    expect(String(answer)).toContain("more than 1024 chunks");
  });

  test("keeps 64 sessions, and the oldest has to start over", async () => {
    const begin = async () => (await post(server.url, {}, initialize)).headers["mcp-session-id"] as string;
    const oldest = await begin();
    const use = async () => (await post(server.url, { "mcp-session-id": oldest })).status;
    expect(await use()).toBe(200);
    for (let count = 0; count < 64; count++) await begin();
    expect(await use()).toBe(404);
  });
});

test.each(defaultSubjects)(
  "the %s prints the configuration of a client with a token that it made",
  async (subject) => {
    await using server = await startHttp(subject, { args: ["--http", "0"] });
    const [configuration] = await once(server.child.stdout as Readable, "data");
    const { url, headers } = JSON.parse(configuration).mcpServers.coder;
    expect(url).toBe(server.url.href);
    const client = new Client({ name: "tests", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await client.close();
    expect((await post(server.url, {}, initialize)).status).toBe(401);
    expect(server.stderr()).not.toContain(headers.Authorization.slice("Bearer ".length));
  },
);

describe("a bearer token", () => {
  let server: HttpFixture;

  beforeAll(async () => {
    server = await startHttp("executable", { args: ["--http", "0.0.0.0:0"], env: { CODER_TOKEN: token } });
  });

  afterAll(() => server[Symbol.asyncDispose]());

  const post127 = (headers: Record<string, string>) => {
    const url = new URL(server.url);
    url.hostname = "127.0.0.1";
    return post(url, headers, initialize);
  };

  test.each([undefined, "Bearer", "Bearer wrong", `Bearer ${token}x`, `Basic ${token}`, token])(
    "%p is not enough",
    async (authorization) => {
      const answer = await post127(authorization === undefined ? {} : { authorization });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(answer.body).not.toContain(token);
    },
  );

  test("opens the door, also under another name of this machine", async () => {
    const authorization = `Bearer ${token}`;
    expect((await post127({ authorization })).status).toBe(200);
    expect((await post127({ authorization, host: "build-server.example" })).status).toBe(200);
    expect((await post127({ authorization, origin: "https://evil.example" })).status).toBe(403);
    expect((await post127({ authorization, origin: "http://localhost:3000" })).status).toBe(200);
  });

  test("is needed off loopback", async () => {
    const { code, stderr } = await runCoder("executable", ["mcp", "--http", "0.0.0.0:0"]);
    expect(code).toBe(2);
    expect(stderr).toContain("CODER_TOKEN");
  });
});

test("a hundred requests sent at once are answered, and more close their connection but no other", async () => {
  await using server = await startHttp(defaultSubjects[0]!);
  const { port } = server.url;
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${ping.length}\r\n\r\n`;
  const [hundred, thousands] = [connect(Number(port), "127.0.0.1"), connect(Number(port), "127.0.0.1")];
  await Promise.all([once(hundred, "connect"), once(thousands, "connect")]);
  // It is reset, which is an error first.
  thousands.on("error", () => {});
  const closed = new Promise((resolve) => thousands.resume().on("close", resolve));
  let answered = 0;
  const isAnswered = new Promise<void>((resolve) => {
    hundred.on("data", (data: Buffer) => {
      answered += data.toString().split("HTTP/1.1 ").length - 1;
      if (answered >= 100) resolve();
    });
  });
  hundred.write((head + ping).repeat(100));
  thousands.write((head + ping).repeat(3000));
  await Promise.all([isAnswered, closed]);
  expect(answered).toBe(100);
  hundred.destroy();
});
