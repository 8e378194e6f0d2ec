/** A feed over several roots, some of which are missing or cannot be watched. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { openRootsJail } from "../jail/jail.ts";
import type { openWatchedTree } from "../watch/open-tree.ts";
import { SharedTree } from "../watch/shared-tree.ts";
import { renderChanges } from "./command-changes.ts";
import { Feed } from "./feed.ts";

const names = ["one", "two"];

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
  const summaryOf = async (work: () => void) => {
    const command = await fixture.feed.beginCommand(cause);
    work();
    return renderChanges(await fixture.feed.endCommand(command!));
  };
  const remove = () => {
    writeFileSync(fixture.at("one/f"), "");
    rmSync(fixture.at("two"), { recursive: true });
  };
  expect(await summaryOf(remove)).toBe("1 file, 1 whole folder");
  expect(await summaryOf(() => writeFileSync(fixture.at("one/g"), ""))).toBe("1 file");
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
  expect(summary).toEqual({ files: 2, folders: 0, git: 1, isIncomplete: false, hasDenied: false });
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

test.each([
  [{ files: 0, folders: 0, git: 0, isIncomplete: false }, undefined],
  [{ files: 1, folders: 2, git: 11, isIncomplete: false }, "1 file, 2 whole folders, .git 11"],
  [{ files: 3, folders: 0, git: 0, isIncomplete: true }, "3 files, and more than is known"],
])("a summary as a text: %j", (summary, text) => {
  expect(renderChanges(summary)).toBe(text);
});
