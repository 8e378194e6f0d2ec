/** A feed over several roots, some of which are missing or cannot be watched. */
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { BackendName, Jail } from "../jail/folder.ts";
import { JailFixture, openRootsAtOnce } from "../jail/jail.test-kit.ts";
import type { openWatchedTree } from "../watch/open-tree.ts";
import { SharedTree } from "../watch/shared-tree.ts";
import { type ChangeSummary, CommandChanges } from "./command-changes.ts";
import { Feed } from "./feed.ts";

const names = ["one", "two"];

const nothing: ChangeSummary = {
  ...{ files: [], deletedFiles: [], movedFiles: [] },
  ...{ made: [], moved: [], deleted: [], modified: [] },
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
    const jail = openRootsAtOnce({ roots, deny: compileGlobSet([]), backend });
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

/** Runs work as a command, with a poll of the feed between its parts, and returns the summary. */
async function summaryOf(
  prepare: (at: RootsFixture["at"]) => void,
  ...work: readonly ((at: RootsFixture["at"]) => void)[]
) {
  using fixture = new RootsFixture();
  const at = (path: string) => fixture.at(path);
  prepare(at);
  const command = await fixture.feed.beginCommand(byCommand);
  for (const [index, part] of work.entries()) {
    if (index > 0) await fixture.feed.newest();
    part(at);
  }
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
      { path: "one/many", files: 340, isReplacement: false, isIncomplete: false },
      { path: "one/empty", files: 0, isReplacement: false, isIncomplete: false },
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
    made: [{ path: "one/final", files: 5, isReplacement: false, isIncomplete: false }],
    moved: [{ from: "one/old", path: "one/other" }],
    deleted: ["one/gone"],
  });
});

type Work = (at: RootsFixture["at"]) => void;

const write =
  (path: string, content = ""): Work =>
  (at) =>
    writeFileSync(at(path), content);
const remove =
  (path: string): Work =>
  (at) =>
    rmSync(at(path), { recursive: true });
const move =
  (from: string, to: string): Work =>
  (at) =>
    renameSync(at(from), at(to));
const make =
  (path: string): Work =>
  (at) =>
    mkdirSync(at(path));
const both =
  (...parts: readonly Work[]): Work =>
  (at) => {
    for (const part of parts) part(at);
  };
const replaced = (path: string, files: number) => [{ path, files, isReplacement: true, isIncomplete: false }];
const remake = [remove("one/d"), make("one/d"), write("one/d/0"), write("one/d/new")];

/** The work of commands in a tree with the files `one/a`, `one/b`, and those in `one/d` and `one/e`. */
const commands: readonly [what: string, work: readonly Work[], summary: Partial<ChangeSummary>][] = [
  ["removes a file", [remove("one/a")], { deletedFiles: ["one/a"] }],
  ["removes a file and writes it again", [remove("one/a"), write("one/a")], { files: ["one/a"] }],
  ["makes and removes a file", [write("one/n"), remove("one/n")], {}],
  ["moves a file", [move("one/a", "one/n")], { movedFiles: [{ from: "one/a", path: "one/n" }] }],
  [
    "moves a file on",
    [move("one/a", "one/m"), move("one/m", "one/n")],
    { movedFiles: [{ from: "one/a", path: "one/n" }] },
  ],
  ["moves a file away and back", [move("one/a", "one/m"), move("one/m", "one/a")], {}],
  ["moves a file over another", [move("one/a", "one/b")], { movedFiles: [{ from: "one/a", path: "one/b" }] }],
  ["saves like an editor", [write("one/a~"), move("one/a~", "one/a")], { files: ["one/a"] }],
  ["moves a file and removes it", [move("one/a", "one/d/n"), remove("one/d/n")], { deletedFiles: ["one/a"] }],
  [
    "moves a file into a folder and removes that",
    [move("one/a", "one/d/n"), remove("one/d")],
    { deletedFiles: ["one/a"], deleted: ["one/d"] },
  ],
  [
    "removes a folder and makes it again",
    [both(...remake)],
    { made: replaced("one/d", 2), deletedFiles: ["one/d/1"] },
  ],
  ["does so between polls", remake, { made: replaced("one/d", 2), deletedFiles: ["one/d/1"] }],
  ["moves a folder away and back", [both(move("one/d", "one/n"), move("one/n", "one/d"))], {}],
  ["does so with a poll in between", [move("one/d", "one/n"), move("one/n", "one/d")], {}],
  [
    "moves a folder and writes in it",
    [move("one/d", "one/n"), write("one/n/0", "x")],
    { moved: [{ from: "one/d", path: "one/n" }], files: ["one/n/0"] },
  ],
  [
    "moves a folder and removes a file in it",
    [move("one/d", "one/n"), remove("one/n/0")],
    { moved: [{ from: "one/d", path: "one/n" }], deletedFiles: ["one/d/0"] },
  ],
  [
    "puts a folder in place of another",
    [both(remove("one/d"), move("one/e", "one/d"))],
    { moved: [{ from: "one/e", path: "one/d" }], deletedFiles: ["one/d/1"] },
  ],
  [
    "writes in a folder and moves it back",
    [move("one/d", "one/n"), write("one/n/new"), move("one/n", "one/d")],
    { files: ["one/d/new"] },
  ],
  [
    "moves a file into a new folder",
    [make("one/n"), move("one/a", "one/n/a")],
    {
      made: [{ ...replaced("one/n", 1)[0]!, isReplacement: false }],
      movedFiles: [{ from: "one/a", path: "one/n/a" }],
    },
  ],
  [
    "puts a file in place of a folder",
    [remove("one/d"), write("one/d")],
    { deleted: ["one/d"], files: ["one/d"] },
  ],
];

test.each(commands)("the summary of a command that %s", async (_, work, expected) => {
  const prepare = both(write("one/a"), write("one/b"), (at) => {
    fill(at, "one/d", 2);
    fill(at, "one/e", 1);
  });
  expect(await summaryOf(prepare, ...work)).toEqual({ ...nothing, ...expected });
});

test("a command has the summary of what it did, whenever the feed is read beside it", async () => {
  using fixture = new RootsFixture();
  await fixture.feed.newest();
  const run = async (line: string) => {
    const command = await fixture.feed.beginCommand(byCommand);
    const program = Bun.spawn(["sh", "-c", line], { cwd: fixture.at("one") });
    while (program.exitCode === null) {
      await fixture.feed.newest();
      await new Promise(setImmediate);
    }
    return await fixture.feed.endCommand(command!);
  };
  writeFileSync(fixture.at("one/a"), "");
  const made = (isReplacement: boolean, files: number) => [
    { path: "one/d", files, isReplacement, isIncomplete: false },
  ];
  for (let round = 0; round < 10; round++) {
    expect(await run("mkdir d; echo > d/a; echo > d/b; mv a c")).toEqual({
      ...nothing,
      made: made(false, 2),
      movedFiles: [{ from: "one/a", path: "one/c" }],
    });
    expect(await run("rm -r d; mkdir d; echo > d/a; mv c a")).toEqual({
      ...nothing,
      made: made(true, 1),
      movedFiles: [{ from: "one/c", path: "one/a" }],
      deletedFiles: ["one/d/b"],
    });
    expect(await run("mv d e; mv e d; mkfifo p; rm p")).toEqual(nothing);
    expect(await run("rm -r d")).toEqual({ ...nothing, deleted: ["one/d"] });
  }
});

test("names of very many changes are summarized in steps", async () => {
  const command = new CommandChanges(byCommand);
  for (let index = 0; index < 20_000; index++)
    for (const kind of ["created", "deleted"] as const)
      command.note({ kind, path: `d/${kind}${index}`, isFolder: false, cause: { by: "external" } });
  const steps = command.summarize({
    folderAt: () => undefined,
    presenceAt: () => "nothing",
    denies: () => false,
  });
  let count = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      expect([step.value.files.length, step.value.deletedFiles.length]).toEqual([20_000, 20_000]);
      break;
    }
    count++;
  }
  expect(count).toBeGreaterThan(40_000);
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

test("recorded paths without later changes are not read for the programs after a checkpoint", async () => {
  using fixture = new RootsFixture();
  await fixture.take();
  let reads = 0;
  const seqs = Object.assign([1], {
    filter() {
      reads++;
      return [];
    },
  });
  const recorded = new Map(Array.from({ length: 1000 }, (_, index) => [`one/${index}`, seqs]));
  writeFileSync(fixture.at("one/7"), "");
  expect(await fixture.feed.programsAfter({ seq: 1, time: 0, recorded })).toEqual([]);
  expect(reads).toBe(0);
});
