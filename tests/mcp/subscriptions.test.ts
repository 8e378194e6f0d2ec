/** Notifications of changed resources, with the official client and both ways to subscribe. */
import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, stateFolder } from "../harness/subject.ts";
import type { Tree } from "../harness/tree.ts";
import { makeMcpFolder } from "./client.ts";
import { startHttp } from "./http-fixture.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const list = "the list";

/** A client, and its notifications so far. */
class Subscriber {
  readonly client: Client;
  readonly base: string;
  readonly #got: string[] = [];
  #arrived: () => void = () => {};

  constructor(base: string, options: ClientOptions) {
    this.base = base;
    this.client = new Client({ name: "tests", version: "1.0.0" }, options);
    this.client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
      this.#add(params.uri),
    );
    this.client.setNotificationHandler("notifications/resources/list_changed", () => this.#add(list));
  }

  #add(what: string): void {
    this.#got.push(what);
    this.#arrived();
  }

  /** Waits for this notification. Returns all notifications since the previous call. */
  async until(what: string): Promise<Set<string>> {
    while (!this.#got.includes(what))
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    return new Set(this.#got.splice(0));
  }

  /**
   * Subscribes to these resources and to their list, whose changes older revisions report anyway. Returns a
   * function that unsubscribes.
   */
  async subscribe(...uris: string[]): Promise<() => Promise<void>> {
    if (this.client.getNegotiatedProtocolVersion() === "2026-07-28") {
      const listening = await this.client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
      return () => listening.close();
    }
    for (const uri of uris) await this.client.subscribeResource({ uri });
    return async () => {
      for (const uri of uris) await this.client.unsubscribeResource({ uri });
    };
  }

  async call(name: string, args: Record<string, unknown>): Promise<void> {
    expect((await this.client.callTool({ name, arguments: args })).isError).not.toBe(true);
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.base, path), text);
  }
}

const tree: Tree = { "a.txt": "a\n", "b c.txt": "b\n", "src/d.ts": "d\n", ".env": "secret\n" };

interface Way {
  readonly over: "stdio" | "http";
  readonly options: ClientOptions;
}

const modern: ClientOptions = { versionNegotiation: { mode: "auto" } };

const ways: [string, Way][] = [
  ["2025-11-25 on stdio", { over: "stdio", options: {} }],
  ["2025-11-25 over HTTP", { over: "http", options: {} }],
  ["2026-07-28 on stdio", { over: "stdio", options: modern }],
  ["2026-07-28 over HTTP", { over: "http", options: modern }],
];

async function connect({ over, options }: Way, config: Record<string, unknown> = {}): Promise<Subscriber> {
  if (over === "http") {
    let base = "";
    const fill = (folder: string) => {
      base = folder;
    };
    const server = await startHttp("executable", { tree, fill, config });
    closing.push(async () => server[Symbol.asyncDispose]());
    const subscriber = new Subscriber(base, options);
    await subscriber.client.connect(new StreamableHTTPClientTransport(server.url));
    closing.push(() => subscriber.client.close());
    return subscriber;
  }
  const { base, file, remove } = makeMcpFolder({ tree, config });
  const [command, ...before] = commandOf("executable");
  const subscriber = new Subscriber(base, options);
  const args = [...before, "mcp", "--config", file];
  const env = { XDG_STATE_HOME: stateFolder() };
  await subscriber.client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  closing.push(remove, () => subscriber.client.close());
  return subscriber;
}

describe.each(ways)("a client of revision %s", (_, way) => {
  test("is notified of files that it has subscribed to, and of no others", async () => {
    const subscriber = await connect(way);
    expect(subscriber.client.getServerCapabilities()?.resources).toEqual({
      subscribe: true,
      listChanged: true,
    });
    const end = await subscriber.subscribe("coder:///a.txt", "coder:///b%20c.txt", "coder:///new.txt");
    const edit = (path: string) =>
      subscriber.call("coder_update_file", {
        files: [{ path, ops: [{ op: "insert", at_line: 1, content: "more" }] }],
      });
    await edit("src/d.ts");
    await edit("a.txt");
    expect(await subscriber.until("coder:///a.txt")).toEqual(new Set(["coder:///a.txt"]));
    // Changes by another program: in place, and by rename.
    appendFileSync(join(subscriber.base, "b c.txt"), "more\n");
    expect(await subscriber.until("coder:///b%20c.txt")).toEqual(new Set(["coder:///b%20c.txt"]));
    subscriber.write("b c.txt~", "saved\n");
    renameSync(join(subscriber.base, "b c.txt~"), join(subscriber.base, "b c.txt"));
    expect(await subscriber.until("coder:///b%20c.txt")).toContain("coder:///b%20c.txt");
    await subscriber.call("coder_create_file", { files: [{ path: "new.txt", content: "new" }] });
    expect(await subscriber.until("coder:///new.txt")).toEqual(new Set(["coder:///new.txt", list]));
    await end();
    await edit("a.txt");
    await subscriber.subscribe("coder:///src/d.ts");
    await edit("src/d.ts");
    expect(await subscriber.until("coder:///src/d.ts")).toEqual(new Set(["coder:///src/d.ts"]));
  });

  test("is notified when files are made, deleted and renamed, once for many", async () => {
    const subscriber = await connect(way);
    await subscriber.subscribe("coder:///src/d.ts");
    const files = Array.from({ length: 40 }, (__, index) => ({ path: `many/${index}`, content: "" }));
    await subscriber.call("coder_create_file", { files });
    expect(await subscriber.until(list)).toEqual(new Set([list]));
    await subscriber.call("coder_delete_file", { paths: ["many/0"] });
    expect(await subscriber.until(list)).toEqual(new Set([list]));
    rmSync(join(subscriber.base, "many"), { recursive: true });
    expect(await subscriber.until(list)).toEqual(new Set([list]));
    // Moving a folder moves the files in it too.
    renameSync(join(subscriber.base, "src"), join(subscriber.base, "lib"));
    expect(await subscriber.until("coder:///src/d.ts")).toEqual(new Set(["coder:///src/d.ts", list]));
    mkdirSync(join(subscriber.base, "src"));
    subscriber.write("src/d.ts", "again\n");
    expect(await subscriber.until("coder:///src/d.ts")).toContain(list);
  });

  test("is notified nothing of what is denied, which it may subscribe to like what is missing", async () => {
    const subscriber = await connect(way);
    await subscriber.subscribe("coder:///.env", "coder:///missing/.env", "coder:///a.txt");
    subscriber.write(".env", "other\n");
    rmSync(join(subscriber.base, ".env"));
    subscriber.write("a.txt", "other\n");
    expect(await subscriber.until("coder:///a.txt")).toEqual(new Set(["coder:///a.txt"]));
  });

  test("is notified of calls and of other programs where there are several roots", async () => {
    const folder = mkdtempSync(join(tmpdir(), "coder-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "one"));
    mkdirSync(join(folder, "two"));
    writeFileSync(join(folder, "one/a.txt"), "a\n");
    const roots = ["one", "two"].map((name) => ({ name, path: join(folder, name) }));
    const subscriber = await connect(way, { roots });
    await subscriber.subscribe("coder:///one/a.txt", "coder:///two/b.txt");
    await subscriber.call("coder_move", { files: [{ from: "one/a.txt", to: "two/a.txt" }] });
    expect(await subscriber.until("coder:///one/a.txt")).toEqual(new Set(["coder:///one/a.txt", list]));
    writeFileSync(join(folder, "two/b.txt"), "b\n");
    expect(await subscriber.until("coder:///two/b.txt")).toEqual(new Set(["coder:///two/b.txt", list]));
  });
});

test.each(ways.slice(0, 2))(
  "a client of revision %s is notified of calls that change the list without having subscribed",
  async (_, way) => {
    const subscriber = await connect(way);
    await subscriber.call("coder_create_file", { files: [{ path: "src/new.ts", content: "" }] });
    expect(await subscriber.until(list)).toEqual(new Set([list]));
  },
);

test("what no file can be, and more than is kept, is refused", async () => {
  const subscriber = await connect({ over: "stdio", options: {} });
  const subscribe = (uri: string) =>
    subscriber.client.subscribeResource({ uri }).catch((error: Error) => error.message);
  for (const uri of ["file:///a.txt", "coder:///", "coder:///../a.txt", "coder:////etc/passwd", "coder:///%"])
    expect(await subscribe(uri)).toMatch(/is not the address of a file here|cannot be subscribed to/);
  for (let count = 0; count < 1000; count++) expect(await subscribe(`coder:///${count}`)).toEqual({});
  expect(await subscribe("coder:///0")).toEqual({});
  expect(await subscribe("coder:///1000")).toContain("at most 1000 subscriptions");
  await subscriber.client.unsubscribeResource({ uri: "coder:///7" });
  expect(await subscribe("coder:///1000")).toEqual({});
});

test.each(ways.slice(2))(
  "a client of revision %s gets no notification that it has not asked for",
  async (_, way) => {
    const subscriber = await connect(way);
    await subscriber.client.listen({ resourceSubscriptions: ["coder:///new.txt"] });
    await subscriber.call("coder_create_file", { files: [{ path: "new.txt", content: "new" }] });
    expect(await subscriber.until("coder:///new.txt")).toEqual(new Set(["coder:///new.txt"]));
  },
);

test("a request of revision 2026-07-28 is acknowledged without what cannot be subscribed to", async () => {
  const subscriber = await connect({ over: "http", options: modern });
  const { honoredFilter } = await subscriber.client.listen({
    resourceSubscriptions: ["coder:///a.txt", "file:///etc/passwd", "coder:///../b"],
  });
  expect(honoredFilter).toEqual({ resourceSubscriptions: ["coder:///a.txt"] });
});
