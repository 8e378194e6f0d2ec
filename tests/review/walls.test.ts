/** The page over HTTP: its access control, and its answers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCoder, startCoder, stateFolder } from "../harness/subject.ts";
import { makeMcpFolder } from "../mcp/client.ts";
import { startHttp } from "../mcp/http-fixture.ts";
import { openReview, type ReviewFixture, request } from "./fixture.ts";

/** A text whose answer is sent in parts. */
const large = "é line\n".repeat(10_000);

let review: ReviewFixture;
let cookie: string;
let folder: URL;

beforeAll(async () => {
  review = await openReview({ tree: { a: "a\n", large, ".env": "SECRET=1\n" } });
  const entered = await request(review.url);
  cookie = String(entered.headers["set-cookie"]).split(";", 1)[0]!;
  folder = new URL(String(entered.headers.location), review.url);
});
afterAll(() => review[Symbol.asyncDispose]());

const call = (id: string, payload: unknown, headers: Record<string, string> = {}) =>
  request(new URL(`call/${id}`, folder), {
    method: "POST",
    headers: { cookie, "content-type": "application/json", ...headers },
    body: JSON.stringify(payload),
  });

test("the token becomes a cookie of this folder that scripts and other sites do not have", async () => {
  const { status, headers } = await request(review.url);
  expect([status, headers.location]).toEqual([303, folder.pathname]);
  expect(folder.pathname).toMatch(/^\/[0-9a-f]{32}\/$/);
  expect(String(headers["set-cookie"])).toMatch(
    new RegExp(`^coder_review=[\\w-]+; Path=${folder.pathname}; HttpOnly; SameSite=Strict$`),
  );
});

test("every answer keeps the page to itself", async () => {
  for (const name of ["", "main.js", "page.css", "icon.svg"]) {
    const { status, headers } = await request(new URL(name, folder), { headers: { cookie } });
    expect([name, status]).toEqual([name, 200]);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
});

describe("refuses", () => {
  test.each<[string, number, Record<string, string>]>([
    ["no cookie", 401, { cookie: "" }],
    ["another cookie", 401, { cookie: "coder_review=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
    ["a name that resolves to this machine", 403, { host: "evil.example:80" }],
    ["a name that begins like this one", 403, { host: "127.0.0.1.evil.example" }],
    ["a page of another site", 403, { origin: "https://evil.example" }],
    ["a page of no site", 403, { origin: "null" }],
    ["a page of another port", 403, { origin: "http://127.0.0.1:1" }],
    ["a script of another port", 403, { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
    [
      "a frame of another site",
      403,
      {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "iframe",
      },
    ],
  ])("%s", async (_, expected, headers) => {
    for (const name of ["", "main.js", "events"]) {
      const { status, text } = await request(new URL(name, folder), { headers: { cookie, ...headers } });
      expect([name, status]).toEqual([name, expected]);
      expect(text).not.toContain("<html");
    }
    const { status, text } = await call("coder::read-file", { path: "a" }, headers);
    expect([status, text.includes('"a\\n"')]).toEqual([expected, false]);
  });

  test("a wrong token, and the right one at another address", async () => {
    const wrong = new URL(review.url);
    wrong.searchParams.set("token", "x".repeat(32));
    expect((await request(wrong)).status).toBe(401);
    const elsewhere = new URL(`/${"0".repeat(32)}/${new URL(review.url).search}`, review.url);
    expect((await request(elsewhere)).status).toBe(401);
    expect((await request(elsewhere, { headers: { cookie } })).status).toBe(404);
  });

  test.each(["coder::update-file", "coder::create-file", "coder::delete-file", "shell::exec", "constructor"])(
    "to call %s",
    async (id) => {
      expect((await call(id, { path: "a", content: "" })).status).toBe(404);
    },
  );

  test("an answer for a call that nobody waits for, and one that is none", async () => {
    const to = new URL("approvals", folder);
    const send = (body: string, headers: Record<string, string> = {}) =>
      request(to, {
        method: "POST",
        headers: { cookie, "content-type": "application/json", ...headers },
        body,
      });
    expect(JSON.parse((await send('{"id":"x","verdict":"yes"}')).text)).toBe("gone");
    for (const body of ["", "null", '{"id":"x"}', '{"id":1,"verdict":"yes"}'])
      expect((await send(body)).status).toBe(400);
    expect((await send('{"id":"x","verdict":"yes"}', { "content-type": "text/plain" })).status).toBe(400);
    expect((await send('{"id":"x","verdict":"yes"}', { cookie: "" })).status).toBe(401);
    expect((await send('{"id":"x","verdict":"yes"}', { origin: "http://127.0.0.1:1" })).status).toBe(403);
  });

  test("a payload that is not JSON, one in a form's type, and one that is too long", async () => {
    const to = new URL("call/coder::undo", folder);
    const send = (headers: Record<string, string>, body: string) =>
      request(to, { method: "POST", headers: { cookie, ...headers }, body });
    const json = { "content-type": "application/json" };
    expect((await send(json, "{")).status).toBe(400);
    expect((await send({ "content-type": "text/plain" }, "{}")).status).toBe(415);
    expect((await send(json, `"${"x".repeat(1024 * 1024)}"`)).status).toBe(400);
    expect((await request(to, { headers: { cookie } })).status).toBe(405);
  });
});

test("answers what the functions answer, within their rules", async () => {
  const { text } = await call("coder::read-file", { path: "a" });
  expect(JSON.parse(text).answer).toMatchObject({ content: "a\n" });
  const parts = await call("coder::read-file", { path: "large" });
  expect(JSON.parse(parts.text).answer).toMatchObject({ content: large });
  const denied = await call("coder::read-file", { path: ".env" });
  expect(denied.status).toBe(200);
  expect(JSON.parse(JSON.parse(denied.text).error).code).toBe("C211");
  expect(denied.text).not.toContain("SECRET");
  const outside = await call("coder::read-file", { path: "../config.yaml" });
  expect(JSON.parse(JSON.parse(outside.text).error).code).toMatch(/^C21/);
});

test("an undo is in the journal under the name of the person", async () => {
  const agent = await review.join("codex");
  await agent.call("coder_create_file", { path: "b", content: "b\n" });
  const { text } = await call("coder::undo", { seq: 1 });
  expect(JSON.parse(text).answer.undone[0].removed).toEqual(["b"]);
  const listed = await call("coder::checkpoints", { limit: 2 });
  const [undone, created] = JSON.parse(listed.text).answer.checkpoints;
  expect(undone.author).toEqual({ user: expect.any(String) });
  expect(created.author.client).toBe("codex 2.1");
});

/** Returns the address of the page in a log. */
const pageIn = (log: string): string => /"message":"review","url":"([^"]+)"/.exec(log)![1]!;

/** Opens the page. Returns the headers of its session, and functions that address and send requests. */
async function enter(url: string) {
  const { headers } = await request(url);
  const own = { cookie: String(headers["set-cookie"]).split(";", 1)[0]! };
  const at = (name: string) => new URL(name, new URL(String(headers.location), url));
  const post = async (name: string, payload: object) => {
    const json = { ...own, "content-type": "application/json" };
    const { text } = await request(at(name), {
      method: "POST",
      headers: json,
      body: JSON.stringify(payload),
    });
    return JSON.parse(text);
  };
  return { headers: own, at, post };
}

test("a worker on the bus serves it with the key review, and its calls wait for the page", async () => {
  const config = { journal: {}, review: {}, approval: "all" };
  const { base, file, remove } = makeMcpFolder({ config });
  const worker = startCoder("executable", ["--config", file, "--engine", "embedded:0"]);
  await worker.waitForStderr(/"message":"serving"/);
  const [, engine = ""] = /"message":"serving","url":"([^"]+)"/.exec(worker.stderr())!;
  const { headers, at, post } = await enter(pageIn(worker.stderr()));
  expect((await post("call/coder::info", {})).answer).toMatchObject({ profile: "contract", approval: "all" });
  await using events = await openEvents(at("events"), headers);
  await events.next("open");
  const payload = '{"files":[{"path":"new.txt","content":"new"}]}';
  const call = runCoder("executable", ["call", "coder::create-file", payload, "--url", engine]);
  await events.next("approvals");
  expect(existsSync(join(base, "new.txt"))).toBe(false);
  const waiting = JSON.parse((await request(at("approvals"), { headers })).text);
  expect(waiting).toMatchObject([{ function: "coder::create-file", summary: ["create new.txt +1 -0"] }]);
  expect(await post("approvals", { id: waiting[0].id, verdict: "yes" })).toBe("taken");
  expect((await call).code).toBe(0);
  expect(readFileSync(join(base, "new.txt"), "utf8")).toBe("new");
  worker.child.kill("SIGTERM");
  expect(await worker.exited).toBe(0);
  remove();
});

test("a worker that keeps no journal says that the page has no changes to show", async () => {
  const { file, remove } = makeMcpFolder({ config: { profile: "contract", review: {} } });
  const worker = startCoder("executable", ["--config", file, "--engine", "embedded:0"]);
  await worker.waitForStderr(/"message":"serving"/);
  expect(worker.stderr()).toContain(
    '"level":"warn","message":"the page has no changes to show","reason":"no journal is kept; set the key journal"',
  );
  worker.child.kill("SIGTERM");
  await worker.exited;
  remove();
});

test.each([
  ["MCP over HTTP", ["mcp", "--http", "0", "--review"]],
  ["MCP on stdio", ["mcp", "--review"]],
  ["a worker on the bus", ["--engine", "embedded:0"]],
])("%s never writes CODER_TOKEN to its log", async (_, args) => {
  const token = "a-token-of-the-operator-of-a-service";
  const { file, remove } = makeMcpFolder({ config: { journal: {}, review: {} } });
  const worker = startCoder("executable", [...args, "--config", file], { env: { CODER_TOKEN: token } });
  await worker.waitForStderr(/"message":"review"/);
  expect(new URL(pageIn(worker.stderr())).searchParams.get("token")).toMatch(/^[\w-]{43}$/);
  worker.child.kill("SIGTERM");
  await worker.exited;
  expect(worker.stderr()).not.toContain(token);
  remove();
});

test("MCP over HTTP has it on a port of its own, with another token", async () => {
  await using server = await startHttp("executable", {
    args: ["--http", "0", "--no-token", "--review"],
    env: { XDG_STATE_HOME: stateFolder() },
    tree: { a: "a\n" },
  });
  await server.waitForStderr(/"message":"review"/);
  const url = pageIn(server.stderr());
  expect(new URL(url).port).not.toBe(server.url.port);
  const { headers, post } = await enter(url);
  expect((await post("call/coder::read-file", { path: "a" })).answer).toMatchObject({ content: "a\n" });
  const page = new URL(url).pathname;
  expect((await request(new URL(page, server.url), { headers })).status).toBe(404);
});

/** Opens the stream of events. `next` resolves on the next event with a name. */
async function openEvents(url: URL, headers: Record<string, string>) {
  const { get } = await import("node:http");
  const sending = get(url, { headers, agent: false });
  const [response] = await once(sending, "response");
  let text = "";
  response.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return {
    async next(name: string) {
      const event = `event: ${name}\n`;
      while (!text.includes(event)) await once(response, "data");
      text = text.slice(text.indexOf(event) + event.length);
    },
    async [Symbol.asyncDispose]() {
      sending.destroy();
    },
  };
}
