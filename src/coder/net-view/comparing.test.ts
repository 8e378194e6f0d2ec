import { expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Author } from "../../base/author.ts";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

const anna = { client: "anna 1.0", session: "aaaaaaaa" };
const ben = { client: "ben 2.0", session: "bbbbbbbb" };

const edit = (path: string, old_str: string, new_str: string) => ({
  files: [{ path, ops: [{ op: "str_replace", old_str, new_str }] }],
});

const known = "[changes of other programs are known only from the first call of coder::changes on]";

/** Makes a tree of two folders, and changes it by two authors. */
async function work() {
  const fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  mkdirSync(fixture.at("src"));
  for (const name of ["a", "b", "c"]) writeFileSync(fixture.at(`src/${name}.ts`), `${name}1\n${name}2\n`);
  await one.call("coder::changes");
  await one.call("coder::update-file", edit("src/a.ts", "a1", "a0"));
  await one.call("coder::move", { files: [{ from: "src/b.ts", to: "lib/b.ts" }] });
  await one.call("coder::update-file", edit("lib/b.ts", "b2", "b3"));
  await one.call("coder::create-file", { files: [{ path: "docs/x.md", content: "x\n" }] });
  await other.call("coder::delete-file", { paths: ["src/c.ts"] });
  return { fixture, one, other };
}

test("what has changed is shown once for each path, by name, in numbers, and as a patch", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  expect(await one.text("coder::changes", { answer: "names" })).toBe(
    [
      "deleted: src/c.ts (by ben 2.0 (session bbbbbbbb))",
      "moved: src/b.ts to lib/b.ts",
      "created: docs/, 1 file",
      "created: lib/",
      "modified: src/a.ts",
      known,
    ].join("\n"),
  );
  expect(await one.text("coder::changes", { answer: "stat", by: "me" })).toBe(
    [
      "moved: src/b.ts to lib/b.ts +1 -1",
      "created: docs/x.md +1 -0",
      "created: lib/",
      "modified: src/a.ts +1 -1",
    ].join("\n"),
  );
  expect(await one.text("coder::changes", { answer: "diff", path: "src/b.ts" })).toBe(
    [
      "moved: src/b.ts to lib/b.ts +1 -1",
      "diff --git a/src/b.ts b/lib/b.ts",
      "rename from src/b.ts",
      "rename to lib/b.ts",
      "--- a/src/b.ts",
      "+++ b/lib/b.ts",
      "@@ -1,2 +1,2 @@",
      " b1",
      "-b2",
      "+b3",
      known,
    ].join("\n"),
  );
});

test("an answer that begins before the first reader of the feed says so", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  await one.call("coder::create-file", { files: [{ path: "a", content: "a\n" }] });
  const startOf = async (request: object) => (await one.call("coder::changes", request)).external_since;
  const { external, external_since: first } = await one.call("coder::changes", { answer: "names" });
  if (!external) return expect(first).toBeUndefined();
  expect(first).toBe("this call");
  const { next: since } = await one.call("coder::changes");
  for (const request of [{}, { answer: "names" }, { by: "others" }, { checkpoint: 1 }])
    expect(await startOf(request)).toBe("first call");
  for (const request of [{ since }, { since, answer: "names" }, { by: "me" }])
    expect(await startOf(request)).toBeUndefined();
  await one.call("coder::create-file", { files: [{ path: "b", content: "b\n" }] });
  await one.call("coder::create-file", { files: [{ path: "c", content: "c\n" }] });
  expect(await startOf({ checkpoint: 1 })).toBe("first call");
  expect(await startOf({ checkpoint: 2 })).toBeUndefined();
});

test("and names the first command if that was the first reader", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  const run = await commandsOf(fixture, anna);
  await one.call("coder::create-file", { files: [{ path: "a", content: "a\n" }] });
  const { feed } = await fixture.runtime;
  if ((await feed.beginCommand({ by: "call", program: "sh" })) === undefined)
    return expect(feed.reportsExternal).toBe(false);
  await run("sh", () => {});
  expect(await one.text("coder::changes", { answer: "names" })).toBe(
    "created: a\n[changes of other programs are known only from the first command on]",
  );
});

test("net changes begin at a checkpoint, a place in the feed, or with the session, and are those of an author", async () => {
  const { fixture, one, other } = await work();
  await using _ = fixture;
  const pathsOf = async (request: object) =>
    (await one.call("coder::changes", { net: true, ...request })).net.map(
      ({ path }: { path: string }) => path,
    );
  const all = ["src/c.ts", "lib/b.ts", "docs", "lib", "src/a.ts"];
  expect(await pathsOf({})).toEqual(all);
  expect(await pathsOf({ by: "others" })).toEqual(["src/c.ts"]);
  expect(await pathsOf({ checkpoint: 3 })).toEqual(["src/c.ts", "docs"]);
  const { next } = await one.call("coder::changes");
  expect(await pathsOf({ since: next })).toEqual([]);
  await other.call("coder::update-file", edit("lib/b.ts", "b1", "b0"));
  expect(await pathsOf({ since: next })).toEqual(["lib/b.ts"]);
  const [{ by }] = (await one.call("coder::changes", { answer: "names", path: "lib/b.ts" })).net;
  expect(by).toEqual(["me", "ben 2.0 (session bbbbbbbb)"]);
  const pages = [];
  for (let cursor: string | undefined; ; ) {
    const page = await one.call("coder::changes", { net: true, limit: 2, ...(cursor && { cursor }) });
    pages.push(page.net.map(({ path }: { path: string }) => path));
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  expect(pages).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
});

test("what is as it was does not differ", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  for (const seq of [1, 5]) await one.call("coder::undo", { seq });
  await one.call("coder::undo", { paths: ["docs"] });
  await one.call("coder::undo", { seq: 3 });
  await one.call("coder::undo", { seq: 2 });
  expect(await one.text("coder::changes", { answer: "diff" })).toBe(`[nothing differs]\n${known}`);
});

test("changes of other programs are named, and their diffs are shown if the journal has what was there", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  const replace = (path: string, text: string) => {
    writeFileSync(`${fixture.root}/new`, text);
    renameSync(`${fixture.root}/new`, fixture.at(path));
  };
  // A folder that a call has made is watched from the next call on.
  await one.call("coder::changes");
  replace("src/a.ts", "a0\na2\nmore\n");
  replace("lib/other.ts", "other\n");
  const { net, external } = await one.call("coder::changes", { answer: "stat" });
  const found = Object.fromEntries(net.map(({ path, ...rest }: { path: string }) => [path, rest]));
  if (!external) return expect(found["src/a.ts"]).toMatchObject({ added: 2, removed: 1 });
  expect(found["src/a.ts"]).toMatchObject({ added: 2, removed: 1, by: ["me", "another program"] });
  expect(found["lib/other.ts"]).toMatchObject({ kind: "created", added: 1, by: ["another program"] });
  const { next } = await one.call("coder::changes");
  replace("lib/other.ts", "changed\n");
  expect(await one.text("coder::changes", { since: next, answer: "diff" })).toBe(
    "perhaps modified: lib/other.ts (by another program)\n[no diff: another program changed it, and what it was before is not kept]",
  );
});

test("the files in a folder that another program moved into the tree are counted, and listed", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  if (!(await one.call("coder::changes")).external) return;
  const outside = `${fixture.root}/outside`;
  mkdirSync(`${outside}/deep/skipped`, { recursive: true });
  for (const name of ["a", "deep/b", "deep/c", "deep/skipped/d"]) writeFileSync(`${outside}/${name}`, "x\n");
  writeFileSync(`${outside}/.gitignore`, "skipped/\n");
  renameSync(outside, fixture.at("moved"));
  const of = async (form: string) =>
    (await one.call("coder::changes", { answer: form })).net.filter(({ path }: { path: string }) =>
      path.startsWith("moved"),
    );
  const by = { by: ["another program"], checkpoints: [] };
  expect(await of("names")).toEqual([{ kind: "created", path: "moved", dir: true, files: 4, ...by }]);
  expect(await of("stat")).toEqual(
    [".gitignore", "a", "deep/b", "deep/c"].map((name) => ({
      ...{ kind: "created", path: `moved/${name}`, added: 1, removed: 0 },
      ...by,
    })),
  );
  expect(await one.text("coder::changes", { answer: "names" })).toContain(
    "created: moved/, 4 files (by another program)",
  );
});

/**
 * Waits until a file counts as unchanged since the newest poll of the feed. Returns the place of the poll.
 */
async function settle({ call }: AuthorCalls, file: string): Promise<string> {
  while (Date.now() < statSync(file).ctimeMs + 50) await call("coder::changes");
  return (await call("coder::changes")).next;
}

test("what another program changed in files that calls have read or written is shown as a diff", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  mkdirSync(fixture.at("d"));
  for (const name of ["read", "gone", "moved", "same", "unread", "d/in"])
    writeFileSync(fixture.at(name), `${name}1\n${name}2\n`);
  symlinkSync("read", fixture.at("link"));
  const since = await settle(one, fixture.at("d/in"));
  if (!(await one.call("coder::changes")).external) return;
  for (const path of ["link", "gone", "same", "d/in"]) await other.call("coder::read-file", { path });
  await one.call("coder::read-file", { paths: ["moved"] });
  await one.call("coder::create-file", { files: [{ path: "made", content: "made1\n" }] });
  await one.call("coder::move", { files: [{ from: "made", to: "kept" }] });
  const { next } = await one.call("coder::changes");
  writeFileSync(fixture.at("read"), "read1\nchanged\n");
  rmSync(fixture.at("gone"));
  renameSync(fixture.at("moved"), fixture.at("now"));
  writeFileSync(fixture.at("same"), "same1\nsame2\n");
  writeFileSync(fixture.at("unread"), "changed\n");
  writeFileSync(fixture.at("kept"), "made1\nmore\n");
  renameSync(fixture.at("d"), fixture.at("e"));
  writeFileSync(fixture.at("e/in"), "changed\n");
  const shown = (request: object) => one.text("coder::changes", { answer: "diff", ...request });
  const hunk = (path: string, ...lines: string[]) =>
    [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, ...lines].join("\n");
  expect(await shown({ since: next, path: "read" })).toBe(
    `modified: read +1 -1 (by another program)\n${hunk("read", "@@ -1,2 +1,2 @@", " read1", "-read2", "+changed")}`,
  );
  expect(await shown({ since, path: "kept" })).toContain("+more");
  expect(await shown({ since: next, path: "kept" })).toBe(
    `modified: kept +1 -0 (by another program)\n${hunk("kept", "@@ -1 +1,2 @@", " made1", "+more")}`,
  );
  expect(await shown({ since: next, path: "gone" })).toMatch(
    /^deleted: gone \+0 -2 .*\ndiff .*\ndeleted file mode 100644\n--- a\/gone\n\+\+\+ \/dev\/null\n@@ -1,2 \+0,0 @@\n-gone1\n-gone2$/,
  );
  expect(await shown({ since: next, path: "now" })).toBe(
    "moved: moved to now +0 -0 (by another program)\ndiff --git a/moved b/now\nrename from moved\nrename to now",
  );
  expect(await shown({ since: next, path: "same" })).toBe("[nothing differs]");
  for (const path of ["unread", "e/in"])
    expect(await shown({ since: next, path })).toContain("[no diff: another program changed it");
  const { next: later } = await one.call("coder::changes");
  writeFileSync(fixture.at("read"), "again\n");
  expect(await shown({ since: later, path: "read" })).toContain("[no diff: another program changed it");
  expect(await shown({ since: next, path: "read" })).toContain("-read2\n+again");
});

test("what a command changed is its author's work, and named after it", async () => {
  const { fixture, one, other } = await work();
  await using _ = fixture;
  writeFileSync(fixture.at("plain.txt"), "plain\n");
  const { next: since } = await one.call("coder::changes");
  const { feed } = await fixture.runtime;
  const cause = { by: "call", function_id: "shell::exec", author: anna, program: "node" } as const;
  const command = await feed.beginCommand(cause);
  if (command === undefined) return expect(feed.reportsExternal).toBe(false);
  writeFileSync(fixture.at("made.txt"), "made\n");
  renameSync(fixture.at("plain.txt"), fixture.at("lib/plain.txt"));
  writeFileSync(fixture.at("src/a.ts"), "other\n");
  await feed.endCommand(command);
  expect(await one.text("coder::changes", { by: "me", since })).toBe(
    [
      "moved: plain.txt to lib/plain.txt (while shell::exec node ran)",
      "created: made.txt (while shell::exec node ran)",
      "modified: src/a.ts (while shell::exec node ran)",
    ].join("\n"),
  );
  expect(await one.text("coder::changes", { by: "me", answer: "stat", path: "src/a.ts" })).toBe(
    "modified: src/a.ts +1 -2 (by you, and while shell::exec node ran)",
  );
  expect(await other.text("coder::changes", { by: "others", path: "made.txt" })).toBe(
    `created: made.txt (while shell::exec node ran, by anna 1.0 (session aaaaaaaa))\n${known}`,
  );
  expect((await one.call("coder::changes", { by: "others", since })).net).toEqual([]);
  const { next } = await one.call("coder::changes");
  await feed.beginCommand(cause);
  writeFileSync(fixture.at("made.txt"), "again\n");
  expect(await one.text("coder::changes", { since: next, answer: "diff" })).toBe(
    "perhaps modified: made.txt (while shell::exec node ran)\n[no diff: a command changed it, and what it was before is not kept]",
  );
});

/** Returns a function that runs `change` as a command of an author. */
async function commandsOf(fixture: SessionsFixture, author: Author) {
  const { feed } = await fixture.runtime;
  return async (program: string, change: () => void): Promise<void> => {
    const command = await feed.beginCommand({ by: "call", function_id: "shell::exec", author, program });
    change();
    await feed.endCommand(command!);
  };
}

/** Edits a file and makes another, as anna, and calls `act` if the feed reports other programs. */
async function afterEdits(
  act: (given: {
    fixture: SessionsFixture;
    one: AuthorCalls;
    other: AuthorCalls;
    run: (program: string, change: () => void) => Promise<void>;
    stat: (request?: object, calls?: AuthorCalls) => Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  writeFileSync(fixture.at("a"), "one\ntwo\nthree\n");
  const { external, next: since } = await one.call("coder::changes");
  if (!external) return;
  await one.call("coder::update-file", edit("a", "two", "TWO"));
  await one.call("coder::create-file", { files: [{ path: "n", content: "new\n" }] });
  const run = await commandsOf(fixture, anna);
  const stat = (request = {}, calls = one) =>
    calls.text("coder::changes", { since, answer: "stat", ...request });
  await act({ fixture, one, other, run, stat });
}

test("what a command takes away and brings back is the work of the calls that wrote it", () =>
  afterEdits(async ({ fixture, one, other, run, stat }) => {
    const both = "modified: a +1 -1\ncreated: n +1 -0";
    await run("git", () => {
      writeFileSync(fixture.at("a"), "one\ntwo\nthree\n");
      rmSync(fixture.at("n"));
    });
    expect(await stat()).toStartWith("[nothing differs]");
    const bringBack = () => {
      writeFileSync(fixture.at("a"), "one\nTWO\nthree\n");
      writeFileSync(fixture.at("n"), "new\n");
    };
    await run("git", bringBack);
    expect(await stat()).toBe(both);
    expect(await stat({}, other)).toBe(both.replace(/$/gm, " (by anna 1.0 (session aaaaaaaa))"));
    const { net } = await one.call("coder::changes", { answer: "stat" });
    expect(net.map(({ checkpoints, by }: NetChange) => ({ checkpoints, by }))).toEqual([
      { checkpoints: [1], by: ["me"] },
      { checkpoints: [2], by: ["me"] },
    ]);
    for (const name of ["a", "n"]) rmSync(fixture.at(name));
    await one.call("coder::changes");
    bringBack();
    expect(await stat()).toBe(both);
  }));

test("what a command changes after a call is the work of both", () =>
  afterEdits(async ({ fixture, one, other, run, stat }) => {
    await run("sed", () => writeFileSync(fixture.at("a"), "one\nTWO\nTHREE\n"));
    await run("git", () => rmSync(fixture.at("n")));
    await run("git", () => writeFileSync(fixture.at("n"), "new\nmore\n"));
    const ran = (program: string) => `by you, and while shell::exec ${program} ran`;
    expect(await stat()).toBe(`modified: a +2 -2 (${ran("sed")})\ncreated: n +2 -0 (${ran("git")})`);
    const { net } = await one.call("coder::changes", { answer: "diff", path: "a" });
    expect(net[0]).toMatchObject({ by: ["me"], edited_by: ["me"], commands: ["shell::exec sed"] });
    const of = "anna 1.0 (session aaaaaaaa)";
    expect(await stat({ path: "a" }, other)).toBe(
      `modified: a +2 -2 (by ${of}, and while shell::exec sed ran)`,
    );
    await other.call("coder::update-file", edit("a", "one", "ONE"));
    expect(await stat({ path: "a" })).toContain("(by you, ben 2.0 (session bbbbbbbb), and while");
    await run("git", () => renameSync(fixture.at("n"), fixture.at("m")));
    expect(await stat({ path: "m" })).toBe(`created: m +2 -0 (${ran("git")})`);
  }));

test("who ran a command is named apart from who made calls", () =>
  afterEdits(async ({ fixture, one, run, stat, other }) => {
    await other.call("coder::create-file", { files: [{ path: "b", content: "b\n" }] });
    await run("sed", () => writeFileSync(fixture.at("b"), "b\nc\n"));
    expect(await stat({ path: "b" })).toBe(
      "created: b +2 -0 (by ben 2.0 (session bbbbbbbb), and while shell::exec sed ran, by you)",
    );
    const byOther = await commandsOf(fixture, ben);
    await byOther("sed", () => writeFileSync(fixture.at("a"), "one\nTWO\nTHREE\n"));
    expect(await stat({ path: "a" })).toBe(
      "modified: a +2 -2 (by you, and while shell::exec sed ran, by ben 2.0 (session bbbbbbbb))",
    );
    const { next: since } = await one.call("coder::changes");
    await byOther("sed", () => writeFileSync(fixture.at("a"), "one\n"));
    expect(await stat({ path: "a", since })).toContain(
      "(while shell::exec sed ran, by ben 2.0 (session bbbbbbbb))",
    );
  }));

test("of commands at once both are named, and a change beside a job alone is that of others too", () =>
  afterEdits(async ({ fixture, one, stat }) => {
    const { feed } = await fixture.runtime;
    const begin = (author: Author, program: string, function_id = "shell::exec") =>
      feed.beginCommand({ by: "call", function_id, author, program });
    const { next: since } = await one.call("coder::changes");
    const [mine, theirs] = [await begin(anna, "make"), await begin(ben, "node")];
    writeFileSync(fixture.at("a"), "both\n");
    await feed.endCommand(mine!);
    expect((await feed.endCommand(theirs!)).files).toEqual(["a"]);
    expect(await one.text("coder::changes", { since })).toStartWith(
      "modified: a (while shell::exec make of anna 1.0 (session aaaaaaaa) and shell::exec node of ben 2.0 (session bbbbbbbb) ran)",
    );
    expect(await stat({ path: "a", since })).toContain(
      "(while shell::exec make, shell::exec node ran, by you, ben 2.0 (session bbbbbbbb))",
    );
    const { next } = await one.call("coder::changes");
    const job = await begin(anna, "vite", "shell::exec_bg");
    writeFileSync(fixture.at("a"), "by hand\n");
    for (const by of ["me", "others"])
      expect(await stat({ since: next, by })).toContain(
        "(while shell::exec_bg vite ran, perhaps by another program)",
      );
    expect(await one.text("coder::changes", { since: next })).toStartWith(
      "modified: a (while shell::exec_bg vite ran, which anna 1.0 (session aaaaaaaa) started)",
    );
    await feed.endCommand(job!);
  }));

test("an undo names the programs after its checkpoint, also those before another author's", () =>
  afterEdits(async ({ fixture, one, other, run }) => {
    await run("sed", () => writeFileSync(fixture.at("x"), ""));
    expect(await one.call("coder::undo", { dry_run: true })).toMatchObject({ commands: ["sed"] });
    await other.call("coder::create-file", { files: [{ path: "z", content: "z\n" }] });
    expect(await one.call("coder::undo", { dry_run: true })).toMatchObject({ commands: ["sed"] });
    expect(await other.call("coder::undo", { dry_run: true })).not.toHaveProperty("commands");
    writeFileSync(fixture.at("y"), "");
    expect(await other.call("coder::undo", { dry_run: true })).not.toHaveProperty("commands");
  }));

test("a file that a command makes where a call deleted one is the command's", () =>
  afterEdits(async ({ fixture, one, run, stat }) => {
    await one.call("coder::delete-file", { paths: ["n"] });
    await run("git", () => writeFileSync(fixture.at("n"), "other\n"));
    expect(await stat({ path: "n" })).toBe("created: n +1 -0 (while shell::exec git ran)");
  }));

test("a checkpoint, and a file through time under all its names, are shown as diffs", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  const shown = async (request: object) =>
    (await one.text("coder::checkpoints", request)).replaceAll(/\d{4}-\d\d-\d\d [\d:]{8}/g, "<time>");
  expect(await shown({ seq: 1, answer: "diff" })).toBe(
    [
      "#1  <time>  coder::update-file",
      "  modified: src/a.ts +1 -1",
      "diff --git a/src/a.ts b/src/a.ts",
      "--- a/src/a.ts",
      "+++ b/src/a.ts",
      "@@ -1,2 +1,2 @@",
      "-a1",
      "+a0",
      " a2",
    ].join("\n"),
  );
  await one.call("coder::update-file", edit("lib/b.ts", "b3", "b4"));
  expect(await shown({ path: "lib/b.ts", answer: "stat" })).toBe(
    [
      "#6  <time>  coder::update-file",
      "  modified: lib/b.ts +1 -1",
      "#3  <time>  coder::update-file",
      "  modified: lib/b.ts +1 -1",
      "#2  <time>  coder::move",
      "  moved: src/b.ts to lib/b.ts +0 -0",
    ].join("\n"),
  );
  expect(await shown({ path: "src/b.ts" })).toContain("#2");
  await expect(one.call("coder::checkpoints", { seq: 99 })).rejects.toThrow("no checkpoint 99");
  writeFileSync(fixture.at("lib/b.ts"), "other");
  expect(await shown({ seq: 6, answer: "diff" })).toContain(
    '[no diff: it has been changed since; coder::changes {"checkpoint":5,"path":"lib/b.ts","answer":"diff"} shows all changes since then]',
  );
  await one.call("coder::create-file", { path: "lib/b.ts", content: "new", overwrite: true });
  expect(await shown({ seq: 6, answer: "diff" })).toContain("[no diff: it has been changed since; ");
});

test("a checkpoint that there has not been is refused, and not taken for one without later changes", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  await expect(one.call("coder::changes", { checkpoint: 6 })).rejects.toThrow(
    "The journal has no checkpoint 6, or no longer keeps it.",
  );
  expect(await one.text("coder::changes", { checkpoint: 5 })).toBe("[nothing differs]");
});

test("a checkpoint has nothing of what others did at its paths later", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  const shown = async (seq: number) =>
    (await one.text("coder::checkpoints", { seq, answer: "diff" })).split("\n").slice(1);
  const deletion = [
    "  deleted: src/c.ts +0 -2",
    "diff --git a/src/c.ts b/src/c.ts",
    "deleted file mode 100644",
    "--- a/src/c.ts",
    "+++ /dev/null",
    "@@ -1,2 +0,0 @@",
    "-c1",
    "-c2",
  ];
  for (const content of ["other\n", "c1\nc2\n"]) {
    writeFileSync(fixture.at("src/c.ts"), content);
    expect(await shown(5)).toEqual(deletion);
  }
  await one.call("coder::create-file", { path: "d", content: "x\n", mode: "0644" });
  await one.call("coder::move", { from: "d", to: "e" });
  chmodSync(fixture.at("e"), 0o755);
  expect(await shown(7)).toEqual([
    "  moved: d to e +0 -0",
    "diff --git a/d b/e",
    "rename from d",
    "rename to e",
  ]);
  writeFileSync(fixture.at("e"), "y\n");
  expect((await shown(7))[1]).toStartWith("[no diff: it has been changed since; ");
  const file = { path: "f", content: "f\n", overwrite: true };
  await one.call("coder::create-file", { files: [file] });
  const files = [{ ...file, content: "g\n" }, file];
  await one.call("coder::create-file", { files });
  chmodSync(fixture.at("f"), 0o755);
  expect(await shown(9)).toEqual(["  its changes took each other back"]);
});

test("a file that one call moves and changes is moved, in a checkpoint too", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  const shown = async (changes: object[]) => {
    const { checkpoint } = await one.call("coder::transact", { changes });
    const forms = await Promise.all(
      ["names", "stat"].map((answer) => one.text("coder::checkpoints", { seq: checkpoint, answer })),
    );
    return forms.map((text) => text.split("\n").slice(1));
  };
  const move = { op: "move", from: "src/a.ts", to: "new/a.ts" };
  const update = { op: "update", ...edit("new/a.ts", "a2", "a3\na4").files[0]! };
  expect(await shown([move, update])).toEqual([
    ["  created: new", "  moved: src/a.ts to new/a.ts"],
    ["  created: new", "  moved: src/a.ts to new/a.ts +2 -1"],
  ]);
  const { checkpoints } = await one.call("coder::checkpoints", { limit: 1, answer: "diff" });
  const { diff } = checkpoints[0].files[1];
  await one.call("coder::undo");
  await one.call("coder::apply-patch", { patch: diff });
  expect(await one.text("coder::read-file", { path: "new/a.ts" })).toContain("a0\na3\na4");
  expect(await shown([{ op: "chmod", path: "new/a.ts", mode: "0755" }])).toEqual([
    ["  mode: new/a.ts"],
    ["  mode: new/a.ts"],
  ]);
  const there = { op: "move", from: "new/a.ts", to: "new/b.ts" };
  const back = { op: "move", from: "new/b.ts", to: "src/a.ts" };
  expect((await shown([there, { op: "chmod", path: "new/b.ts", mode: "0700" }, back]))[0]).toEqual([
    "  moved: new/a.ts to src/a.ts",
  ]);
  const made = { op: "create", path: "made", content: "x\n" };
  expect((await shown([made, { op: "move", from: "made", to: "made2" }]))[0]).toEqual(["  created: made2"]);
  expect(
    (
      await shown([
        { op: "move", from: "made2", to: "made3" },
        { op: "delete", path: "made3" },
      ])
    )[0],
  ).toEqual(["  deleted: made2"]);
});

test("an image that differs is shown by both sides, if it is wanted and small enough", async () => {
  const fixture = new SessionsFixture();
  await using _ = fixture;
  const one = fixture.open(anna);
  const png = (text: string) => Buffer.from(`\x89PNG\r\n\x1a\n\0${text}`, "latin1");
  const image = (text: string) => ({ data: png(text).toString("base64"), mime_type: "image/png" });
  for (const name of ["old", "new"]) writeFileSync(fixture.at(`${name}.png`), png(name));
  writeFileSync(fixture.at("page.png"), "<script>\0</script>");
  const copy = async (from: string, to: string) =>
    (await one.call("coder::copy", { files: [{ from, to, overwrite: true }] })).checkpoint;
  const first = await copy("old.png", "shown.png");
  const second = await copy("new.png", "shown.png");
  const other = await copy("page.png", "other.png");
  const wanted = { answer: "diff", images: true };
  const at = async (seq: number, request: object = wanted) => {
    const { checkpoints } = await one.call("coder::checkpoints", { seq, ...request });
    return checkpoints[0].files[0];
  };
  const note = "it is not text in UTF-8";
  expect(await at(first)).toMatchObject({ note, images: { after: image("old") } });
  expect(await at(second)).toMatchObject({ note, images: { before: image("old"), after: image("new") } });
  expect(await at(second, { answer: "diff" })).not.toHaveProperty("images");
  expect(await at(second, { answer: "stat", images: true })).not.toHaveProperty("images");
  expect(await at(second, { ...wanted, max_diff_bytes: 20 })).toEqual({
    path: "shown.png",
    change: "modified",
    note: "it is too large to show",
  });
  // A name alone does not make a file an image.
  expect(await at(other)).toEqual({ path: "other.png", change: "created", note });
  await one.call("coder::delete-file", { paths: ["old.png"] });
  const net = async () => (await one.call("coder::changes", { ...wanted, checkpoint: first })).net;
  const both = {
    "shown.png": { before: image("old"), after: image("new") },
    "old.png": { before: image("old") },
  };
  const images = (changes: { path: string; images?: object }[]) =>
    Object.fromEntries(changes.map((change) => [change.path, change.images]));
  expect(images(await net())).toEqual({ ...both, "other.png": undefined });
  // An image that does not fit beside another one is on the next page.
  const limited = { ...wanted, checkpoint: first, max_diff_bytes: 40 };
  const page = await one.call("coder::changes", limited);
  const next = await one.call("coder::changes", { ...limited, cursor: page.next_cursor });
  expect([page, next].map(({ net }) => Object.keys(images(net)))).toEqual([
    ["old.png", "other.png"],
    ["shown.png"],
  ]);
  expect(images([...page.net, ...next.net])).toEqual({ ...both, "other.png": undefined });
});

test("a large file that an undo has restored is known to be what it left", async () => {
  const { fixture, one } = await work();
  await using _ = fixture;
  writeFileSync(fixture.at("large"), Buffer.alloc(40 * 1024 * 1024, "x"));
  await one.call("coder::delete-file", { paths: ["large"] });
  await one.call("coder::undo");
  const { checkpoints } = await one.call("coder::checkpoints", { limit: 1, answer: "stat" });
  expect(checkpoints[0].files).toEqual([
    { change: "created", path: "large", note: "it is too large to compare" },
  ]);
});

test("what the journal no longer has is said by each answer that depends on it", async () => {
  await using fixture = new SessionsFixture({}, 100_000);
  const one = fixture.open(anna);
  for (let file = 1; file <= 8; file++) {
    writeFileSync(fixture.at("a.txt"), `${file}`.repeat(30_000));
    await one.call("coder::delete-file", { paths: ["a.txt"] });
  }
  const { checkpoints, dropped_before: oldest } = await one.call("coder::checkpoints");
  expect(oldest).toBe(checkpoints.at(-1).seq);
  expect(oldest).toBeGreaterThan(1);
  const said = `[the journal no longer has the checkpoints before #${oldest}]`;
  expect(await one.text("coder::checkpoints")).toEndWith(`\n${said}`);
  expect(await one.text("coder::checkpoints", { before_seq: oldest })).toBe(
    `No such checkpoint is kept.\n${said}`,
  );
  expect(await one.call("coder::checkpoints", { limit: 1 })).not.toHaveProperty("dropped_before");
  const note = `The journal no longer has the checkpoints before #${oldest}: what they changed is missing here, or shown without what it was before.`;
  expect(await one.call("coder::changes", { checkpoint: 1 })).toMatchObject({ note, overflow: true });
  expect(await one.text("coder::changes", { answer: "stat" })).toContain(`[${note}]`);
  const kept = await one.call("coder::changes", { checkpoint: oldest - 1 });
  expect(kept.overflow).toBe(false);
});

test("lines are counted, and a change of content stays one, where there is no room for diffs", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  writeFileSync(fixture.at("small.txt"), "a\n");
  writeFileSync(fixture.at("large.txt"), "a\n");
  await one.call("coder::update-file", edit("small.txt", "a", "b"));
  await one.call("coder::update-file", edit("large.txt", "a", "line\n".repeat(50_000)));
  const filesOf = async (answer: string) => {
    const { checkpoints } = await one.call("coder::checkpoints", { answer });
    return checkpoints.map(({ files }: { files: object[] }) => files[0]);
  };
  expect(await filesOf("stat")).toEqual([
    { change: "modified", path: "large.txt", added: 50_001, removed: 1 },
    { change: "modified", path: "small.txt", added: 1, removed: 1 },
  ]);
  expect(await filesOf("diff")).toMatchObject([
    { path: "large.txt", added: 50_001, removed: 1, diff_truncated: true },
    { path: "small.txt", added: 1, removed: 1, diff_truncated: true },
  ]);
});

test("an edit of a file in UTF-16, or whose lines end in CR, is shown as its text, in a patch that fits", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
  writeFileSync(fixture.at("u.txt"), utf16("one\nдва\n"));
  writeFileSync(fixture.at("mac.txt"), "one\rtwo\r");
  const diffs = [" \ufeffone\n-два\n+три\n", " one\n-two\n+three\n"];
  const seqs = [
    (await one.call("coder::update-file", edit("u.txt", "два", "три"))).checkpoint,
    (await one.call("coder::update-file", edit("mac.txt", "two", "three"))).checkpoint,
  ];
  const patches: string[] = [];
  for (const [index, seq] of seqs.entries()) {
    const { checkpoints } = await one.call("coder::checkpoints", { seq, answer: "diff" });
    const [{ diff, added, removed }] = checkpoints[0].files;
    expect(diff).toEndWith(diffs[index]!);
    expect([added, removed]).toEqual([1, 1]);
    patches.push(diff);
  }
  writeFileSync(fixture.at("u.txt"), utf16("one\nдва\n"));
  writeFileSync(fixture.at("mac.txt"), "one\rtwo\r");
  await one.call("coder::apply-patch", { patch: patches.join("") });
  expect(readFileSync(fixture.at("u.txt"))).toEqual(utf16("one\nтри\n"));
  expect(readFileSync(fixture.at("mac.txt"), "utf8")).toBe("one\rthree\r");
});

test("an edit of a file in an encoding that the call names is shown as its text", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  writeFileSync(fixture.at("l.txt"), Buffer.from("caf\xe9\none\n", "latin1"));
  const { next: since } = await one.call("coder::changes");
  const file = { path: "l.txt", ops: [{ op: "str_replace", old_str: "café", new_str: "thé" }] };
  await one.call("coder::update-file", { files: [{ ...file, encoding: "latin1" }] });
  const note = expect.stringContaining('with "encoding", such as "windows-1252"');
  const diff = expect.stringContaining("\n-café\n+thé\n one\n");
  const seen = async (more: object) => [
    (await one.call("coder::checkpoints", { limit: 1, answer: "diff", ...more })).checkpoints[0].files[0],
    (await one.call("coder::changes", { since, answer: "diff", ...more })).net[0],
  ];
  for (const file of await seen({})) expect(file).toMatchObject({ note });
  for (const file of await seen({ encoding: "windows-1252" })) expect(file).toMatchObject({ diff, added: 1 });
  await expect(one.call("coder::changes", { since, answer: "diff", encoding: "klingon" })).rejects.toThrow();
});

test("a file whose encoding changed has no diff of its text", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  const file = { path: "u.txt", content: "one\n", overwrite: true };
  await one.call("coder::create-file", { files: [{ ...file, encoding: "utf-16le" }] });
  const { checkpoint: seq } = await one.call("coder::create-file", {
    files: [{ ...file, encoding: "utf-8" }],
  });
  const { checkpoints } = await one.call("coder::checkpoints", { seq, answer: "diff" });
  expect(checkpoints[0].files[0]).toMatchObject({ note: "it is not text in UTF-8" });
  writeFileSync(fixture.at("mac.txt"), "one\rtwo\r");
  const { checkpoint } = await one.call("coder::create-file", {
    files: [{ path: "mac.txt", content: "one\ntwo\n", overwrite: true }],
  });
  const changed = await one.call("coder::checkpoints", { seq: checkpoint, answer: "diff" });
  expect(changed.checkpoints[0].files[0]).toMatchObject({ added: 2, removed: 1 });
});

test("changes that the feed has lost are never denied", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  writeFileSync(fixture.at("a.txt"), "a\n");
  const { next } = await one.call("coder::changes");
  for (const path of ["first", "b.txt"])
    await one.call("coder::create-file", { files: [{ path, content: "b\n" }] });
  writeFileSync(fixture.at("a.txt"), "changed\n");
  await one.call("coder::changes", { since: next });
  // The feed keeps 4 MiB of paths.
  const folder = Array(14).fill("x".repeat(250)).join("/");
  await one.call("coder::create-file", { files: [{ path: `${folder}/a`, content: "" }] });
  const [a, b] = [`${folder}/a`, `${folder}/b`];
  const moves = Array.from({ length: 620 }, (_, index) =>
    index % 2 === 0 ? { from: a, to: b } : { from: b, to: a },
  );
  // In several calls, since each has its own time limit.
  for (let at = 0; at < moves.length; at += 62)
    await one.call("coder::move", { files: moves.slice(at, at + 62) });
  const lost = await one.call("coder::changes", { since: next, answer: "stat" });
  expect(lost).toMatchObject({ net: [], overflow: true, note: expect.stringContaining("`checkpoint`") });
  expect(await one.text("coder::changes", { since: next, answer: "stat" })).toMatch(
    /^\[nothing is known to differ\]/,
  );
  const since = await one.call("coder::changes", { checkpoint: 1, answer: "stat" });
  expect(since).toMatchObject({
    overflow: true,
    note: expect.stringContaining("not known, and missing here"),
  });
  expect(since.net.map(({ path }: { path: string }) => path)).toContain("b.txt");
});

test("a page of changes says whether there are more", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  const { next: since } = await one.call("coder::changes");
  for (const path of ["a", "b", "c"])
    await one.call("coder::create-file", { files: [{ path, content: "" }] });
  const first = await one.call("coder::changes", { since, limit: 2 });
  expect(first).toMatchObject({ more: true });
  expect(await one.text("coder::changes", { since, limit: 2 })).toEndWith(
    `[there are more; go on with since ${first.next}]`,
  );
  expect(await one.call("coder::changes", { since: first.next, limit: 2 })).not.toHaveProperty("more");
});
