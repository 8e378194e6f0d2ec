/** A feed over several roots, some of which are missing or cannot be watched. */
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { openRootsJail } from "../jail/jail.ts";
import type { openWatchedTree } from "../watch/open-tree.ts";
import { SharedTree } from "../watch/shared-tree.ts";
import type { ChangeSummary } from "./command-changes.ts";
import { Feed } from "./feed.ts";

const names = ["one", "two"];

const nothing: ChangeSummary = {
  ...{ files: [], made: [], moved: [], deleted: [], modified: [] },
  ...{ hasGit: false, isIncomplete: false, hasDenied: false },
};

class RootsFixture extends JailFixture {
  readonly feed: Feed;
  readonly #jail: Jail;
  #next = 0;

  /** Creates the fixture. `open` opens the tree of the root "two". */
  constructor(backend: BackendName = "openat", open?: typeof openWatchedTree) {
    super({ "one/": null, "two/": null });
    const roots = names.map((name) => ({ name, path: this.at(name) }));
    const jail = openRootsJail({ roots, deny: compileGlobSet([]), backend });
    const trees = names.map((name) => {
      const openBase = () => jail.reopenFolder(name);
      return { name, tree: new SharedTree({ openBase, ...(name === "two" && open && { open }) }) };
    });
    this.feed = new Feed({ jail, trees, listen: () => {} });
    this.#jail = jail;
  }

  /** Returns the changes since the last call, and whether all changes of other programs are reported. */
  async take(): Promise<[string[], boolean]> {
    const newest = await this.feed.newest();
    const lines: string[] = [];
    while (this.#next < newest) {
      const { kind, path, isGap } = this.feed.at(++this.#next);
      lines.push(isGap ? "gap" : `${kind} ${path}`);
    }
    return [lines, this.feed.reportsExternal];
  }

  override [Symbol.dispose](): void {
    this.feed.close();
    this.#jail.close();
    super[Symbol.dispose]();
  }
}

test("changes in the other roots are those of a command, whether a root is gone or goes while it runs", async () => {
  using fixture = new RootsFixture();
  await fixture.take();
  const cause = { by: "call", program: "sh" } as const;
  const changesOf = async (work: () => void) => {
    const command = await fixture.feed.beginCommand(cause);
    work();
    return await fixture.feed.endCommand(command!);
  };
  const remove = () => {
    writeFileSync(fixture.at("one/f"), "");
    rmSync(fixture.at("two"), { recursive: true });
  };
  expect(await changesOf(remove)).toEqual({ ...nothing, files: ["one/f"], deleted: ["two"] });
  expect(await changesOf(() => writeFileSync(fixture.at("one/g"), ""))).toEqual({
    ...nothing,
    files: ["one/g"],
  });
  const found = [1, 2, 3].map((seq) => fixture.feed.at(seq));
  expect(found.map(({ path, kind, cause }) => [path, kind, cause])).toEqual([
    ["one/f", "created", cause],
    ["two", "deleted", cause],
    ["one/g", "created", cause],
  ]);
});

test("a root that is gone when the feed opens is watched from when it is back", async () => {
  using fixture = new RootsFixture();
  rmSync(fixture.at("two"), { recursive: true });
  expect(await fixture.take()).toEqual([[], false]);
  writeFileSync(fixture.at("one/f"), "");
  expect(await fixture.take()).toEqual([["created one/f"], false]);
  mkdirSync(fixture.at("two"));
  expect(await fixture.take()).toEqual([["gap"], true]);
  writeFileSync(fixture.at("two/f"), "");
  expect(await fixture.take()).toEqual([["created two/f"], true]);
});

test("where all roots are gone a reader looks for them, and is told when they are back", async () => {
  using fixture = new RootsFixture();
  for (const name of names) rmSync(fixture.at(name), { recursive: true });
  expect(await fixture.take()).toEqual([[], false]);
  await fixture.feed.due(0, new AbortController().signal);
  for (const name of names) mkdirSync(fixture.at(name));
  expect(await fixture.take()).toEqual([["gap", "gap"], true]);
});

test("a root that cannot be watched is said, and the other is watched", async () => {
  using fixture = new RootsFixture("openat", () => "filesystem");
  expect(await fixture.take()).toEqual([[], false]);
  for (const name of names) writeFileSync(fixture.at(`${name}/f`), "");
  expect(await fixture.take()).toEqual([["created one/f"], false]);
});

test("where no root can be watched a reader waits for changes of calls", async () => {
  using fixture = new RootsFixture("current-directory");
  expect(await fixture.take()).toEqual([[], false]);
  const stopping = new AbortController();
  let isDue = false;
  const due = fixture.feed.due(0, stopping.signal).then(() => {
    isDue = true;
  });
  expect(await fixture.take()).toEqual([[], false]);
  expect(isDue).toBe(false);
  stopping.abort();
  await due;
});

const byCommand = { by: "call", function_id: "shell::exec" } as const;

test("what changes while a command runs has it as its cause and is counted, and nothing before or after", async () => {
  using fixture = new RootsFixture();
  await fixture.feed.newest();
  writeFileSync(fixture.at("one/before"), "");
  const command = await fixture.feed.beginCommand(byCommand);
  writeFileSync(fixture.at("one/before"), "again");
  writeFileSync(fixture.at("two/f"), "");
  mkdirSync(fixture.at("two/.git"));
  const summary = await fixture.feed.endCommand(command!);
  writeFileSync(fixture.at("one/after"), "");
  const newest = await fixture.feed.newest();
  const causes = Array.from({ length: newest }, (_, index) => fixture.feed.at(index + 1)).map(
    ({ path, cause }) => [path, cause.by],
  );
  expect(summary).toEqual({ ...nothing, files: ["one/before", "two/f"], hasGit: true });
  expect(causes).toEqual(
    expect.arrayContaining([
      ["one/before", "external"],
      ["one/before", "call"],
      ["two/f", "call"],
      ["one/after", "external"],
    ]),
  );
  expect(causes.filter(([path, by]) => path === "one/after" && by === "call")).toEqual([]);
});

test("without a watched tree nothing is said of a command", async () => {
  using fixture = new RootsFixture("openat", () => "filesystem");
  expect(await fixture.feed.beginCommand(byCommand)).toBeUndefined();
});

/** Runs work as a command, and returns the summary of its changes. */
async function summaryOf(prepare: (at: RootsFixture["at"]) => void, work: (at: RootsFixture["at"]) => void) {
  using fixture = new RootsFixture();
  const at = (path: string) => fixture.at(path);
  prepare(at);
  const command = await fixture.feed.beginCommand(byCommand);
  work(at);
  return await fixture.feed.endCommand(command!);
}

const fill = (at: (path: string) => string, folder: string, files: number) => {
  mkdirSync(at(folder), { recursive: true });
  for (let count = 0; count < files; count++) writeFileSync(at(`${folder}/${count}`), "");
};

test("files in a new folder are counted with it, however deep they are and whenever it was watched", async () => {
  const summary = await summaryOf(
    () => {},
    (at) => {
      fill(at, "one/many", 300);
      fill(at, "one/many/deep/deeper", 40);
      fill(at, "one/empty", 0);
      writeFileSync(at("one/beside"), "");
    },
  );
  expect(summary).toEqual({
    ...nothing,
    files: ["one/beside"],
    made: [
      { path: "one/many", files: 340, isIncomplete: false },
      { path: "one/empty", files: 0, isIncomplete: false },
    ],
  });
});

test("a folder that is made and renamed is new, one that is made and removed is nothing, one moved is moved", async () => {
  const summary = await summaryOf(
    (at) => {
      fill(at, "one/old", 3);
      fill(at, "one/gone", 3);
    },
    (at) => {
      fill(at, "one/draft", 5);
      renameSync(at("one/draft"), at("one/final"));
      fill(at, "one/passing", 5);
      rmSync(at("one/passing"), { recursive: true });
      renameSync(at("one/old"), at("one/other"));
      rmSync(at("one/gone"), { recursive: true });
    },
  );
  expect(summary).toEqual({
    ...nothing,
    made: [{ path: "one/final", files: 5, isIncomplete: false }],
    moved: ["one/other"],
    deleted: ["one/gone"],
  });
});

test.each([
  ["index", false],
  ["index.lock", false],
  ["HEAD", true],
  ["refs/heads/index", true],
  ["refs/heads/main", true],
  ["packed-refs", true],
])("a change of .git/%s counts: %p", async (path, isCounted) => {
  const prepare = (at: RootsFixture["at"]) => mkdirSync(at("one/.git/refs/heads"), { recursive: true });
  const summary = await summaryOf(prepare, (at) => writeFileSync(at(`one/.git/${path}`), "x"));
  expect(summary).toEqual({ ...nothing, hasGit: isCounted });
});
