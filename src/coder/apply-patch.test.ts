import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

/** Opens a folder with one file. */
function openWith(content: string | Buffer) {
  const fixture = new SessionsFixture();
  writeFileSync(fixture.at("f.txt"), content);
  const read = () => readFileSync(fixture.at("f.txt"), "utf8");
  return { fixture, read, ...fixture.open({ client: "anna 1.0", session: "aaaaaaaa" }) };
}

const diff = (...lines: string[]) => ["--- a/f.txt", "+++ b/f.txt", ...lines, ""].join("\n");

test("a hunk that fits elsewhere too is said to, and where it was applied", async () => {
  const { fixture, text } = openWith("begin\nend\n1\n2\n3\n4\n5\n6\nbegin\nend\n7\n");
  await using _ = fixture;
  const hunk = [" begin", "-end", "+END"];
  const noteOf = async (line: number) =>
    (await text("coder::apply-patch", { patch: diff(`@@ -${line},2 +${line},2 @@`, ...hunk), dry_run: true }))
      .split("\n")
      .filter((note) => note.startsWith("[hunk"));
  expect(await noteOf(1)).toEqual(["[hunk 1: applied at line 1, and it fits at line 9 too]"]);
  expect(await noteOf(2)).toEqual([
    "[hunk 1: applied at line 1, 1 line before its header; it fits at line 9 too]",
  ]);
});

test("a file without a newline at its end is said to be one, unless the patch adds it", async () => {
  const { fixture, read, text } = openWith("one\ntwo");
  await using _ = fixture;
  const patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n-one\n+1\n*** End Patch\n";
  expect(await text("coder::apply-patch", { patch })).toBe(
    "f.txt: modified, 2 lines now\n1→1\n2→two\n[no newline at the end]\n#1",
  );
  const adding = diff("@@ -1,2 +1,2 @@", " 1", "-two", "\\ No newline at end of file", "+two");
  expect(await text("coder::apply-patch", { patch: adding })).toBe(
    "f.txt: modified, 2 lines now\n1→1\n2→two\n#2",
  );
  expect(read()).toBe("1\ntwo\n");
});

test("a file of another encoding is patched in it", async () => {
  const { fixture, text, call } = openWith(Buffer.from("Größe: 10 cm\nrot\n", "latin1"));
  await using _ = fixture;
  const patch = diff("@@ -1,2 +1,2 @@", "-Größe: 10 cm", "+Größe: 20 €", " rot");
  const removing = diff("@@ -1,2 +1 @@", "-Größe: 10 cm", " rot");
  const error = await call("coder::apply-patch", { patch: removing }).then(
    () => "",
    ({ message }: Error) => message,
  );
  expect(error).toContain("`encoding`");
  expect(await text("coder::apply-patch", { patch, encoding: "windows-1252" })).toContain(
    "\n[windows-1252]\n",
  );
  expect(readFileSync(fixture.at("f.txt")).toString("hex")).toBe(
    Buffer.from("Gr\xf6\xdfe: 20 \x80\nrot\n", "latin1").toString("hex"),
  );
});

/** Files whose names differ in blanks at their ends. */
const padded = ["trail", "trail ", "lead", " lead"];

test.each(padded)("what git's diffs do to %j is done to that file alone", async (name) => {
  const git = (folder: string, ...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    });
  const changes: readonly ((at: (path: string) => string) => void)[] = [
    (at) => writeFileSync(at(name), "other\n"),
    (at) => chmodSync(at(name), 0o755),
    (at) => rmSync(at(name)),
    (at) => renameSync(at(name), at("moved ")),
    (at) => writeFileSync(at("new "), "new\n"),
  ];
  for (const change of changes) {
    await using fixture = new SessionsFixture();
    const at = (path: string) => fixture.at(path);
    const names = () => readdirSync(at("d")).sort();
    const read = () => names().map((path) => [path, readFileSync(at(`d/${path}`), "utf8")]);
    mkdirSync(at("d"));
    for (const path of padded) writeFileSync(at(`d/${path}`), "same\n");
    const { call } = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
    const before = read();
    git(at("d"), "init", "-q");
    git(at("d"), "add", "-A");
    git(at("d"), "commit", "-qm", "first");
    change((path) => at(`d/${path}`));
    git(at("d"), "add", "-A");
    const patch = git(at("d"), "diff", "--cached", "-M");
    git(at("d"), "reset", "-q", "--hard");
    rmSync(at("d/.git"), { recursive: true });
    expect(read()).toEqual(before);
    await call("coder::apply-patch", { patch, base_dir: "d" });
    const after = read();
    const modes = () => names().map((path) => statSync(at(`d/${path}`)).mode & 0o777);
    const afterModes = modes();
    await call("coder::undo", {});
    expect(read()).toEqual(before);
    change((path) => at(`d/${path}`));
    expect([after, afterModes]).toEqual([read(), modes()]);
  }
});

const v4a = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");

test("in V4A, blanks around a name belong to it if there is such a file", async () => {
  const { fixture, text } = openWith("");
  await using _ = fixture;
  for (const path of padded) writeFileSync(fixture.at(path), `${path}|\n`);
  const update = (name: string) =>
    text("coder::apply-patch", { patch: v4a(`*** Update File: ${name}`, "@@", `-${name}|`, "+x") });
  for (const path of padded) expect(await update(path)).toContain(": modified");
  for (const path of padded) expect(readFileSync(fixture.at(path), "utf8")).toBe("x\n");
  await text("coder::apply-patch", { patch: v4a("*** Delete File: trail ") });
  expect([existsSync(fixture.at("trail")), existsSync(fixture.at("trail "))]).toEqual([true, false]);
  // Now the blank is a slip.
  await text("coder::apply-patch", { patch: v4a("*** Delete File: trail ") });
  expect(existsSync(fixture.at("trail"))).toBe(false);
});

test.each(padded)(
  "in V4A, a new file %j and one moved there are taken by what has that name",
  async (name) => {
    const { fixture, read, text, call } = openWith("moved\n");
    await using _ = fixture;
    for (const path of padded) writeFileSync(fixture.at(path), `${path}|\n`);
    const contents = () => padded.map((path) => readFileSync(fixture.at(path), "utf8"));
    const before = contents();
    const add = v4a(`*** Add File: ${name}`, "+new");
    const move = v4a("*** Update File: f.txt", `*** Move to: ${name}`, "@@", "-moved", "+new");
    for (const patch of [add, move]) {
      const refused = await call("coder::apply-patch", { patch }).catch(({ message }: Error) => message);
      expect(refused).toContain(JSON.stringify(name).slice(1, -1));
      expect([contents(), read()]).toEqual([before, "moved\n"]);
      await text("coder::apply-patch", { patch, overwrite: true });
      expect(contents()).toEqual(padded.map((path) => (path === name ? "new\n" : `${path}|\n`)));
      await call("coder::undo", {});
      expect([contents(), read()]).toEqual([before, "moved\n"]);
    }
  },
);

test("in V4A, blanks around a new name are removed, and later sections mean the same file", async () => {
  const { fixture, text } = openWith("moved\n");
  await using _ = fixture;
  const patch = v4a(
    "*** Add File:  new ",
    "+one",
    "*** Update File:  new ",
    "@@",
    "-one",
    "+two",
    "*** Update File: f.txt",
    "*** Move to:  there ",
    "*** Update File:  there ",
    "@@",
    "-moved",
    "+changed",
  );
  await text("coder::apply-patch", { patch });
  expect(readFileSync(fixture.at("new"), "utf8")).toBe("two\n");
  expect(readFileSync(fixture.at("there"), "utf8")).toBe("changed\n");
});

test.each(padded)("in V4A, a reversed patch changes %j alone", async (name) => {
  const { fixture, text } = openWith("");
  await using _ = fixture;
  for (const path of padded) writeFileSync(fixture.at(path), "new\n");
  const contents = () =>
    padded
      .filter((path) => existsSync(fixture.at(path)))
      .map((path) => [path, readFileSync(fixture.at(path), "utf8")]);
  const others = padded.filter((path) => path !== name).map((path) => [path, "new\n"]);
  await text("coder::apply-patch", {
    reverse: true,
    patch: v4a(`*** Update File: ${name}`, "@@", "-old", "+new"),
  });
  expect(contents().filter(([path]) => path !== name)).toEqual(others);
  expect(readFileSync(fixture.at(name), "utf8")).toBe("old\n");
  await text("coder::apply-patch", { reverse: true, patch: v4a(`*** Add File: ${name}`, "+old") });
  expect(contents()).toEqual(others);
  for (const path of padded) writeFileSync(fixture.at(path), "new\n");
  await text("coder::apply-patch", {
    reverse: true,
    patch: v4a("*** Update File: moved", `*** Move to: ${name}`),
  });
  expect(contents()).toEqual(others);
  expect(readFileSync(fixture.at("moved"), "utf8")).toBe("new\n");
});

test("in V4A, a name with a blank is not that of the file beside a folder that has it", async () => {
  const { fixture, call } = openWith("one\n");
  await using _ = fixture;
  mkdirSync(fixture.at("f.txt "));
  const patch = v4a("*** Update File: f.txt ", "@@", "-one", "+two");
  const refused = await call("coder::apply-patch", { patch }).catch(({ message }: Error) => message);
  expect(refused).toContain("f.txt ");
  expect(readFileSync(fixture.at("f.txt"), "utf8")).toBe("one\n");
});

const unifiedNamed = (old: string, now: string) =>
  [`--- ${old}`, `+++ ${now}`, "@@ -1 +1 @@", "-one", "+two", ""].join("\n");
const updateOf = (name: string) => v4a(`*** Update File: ${name}`, "@@", "-one", "+two");

test.each([
  ["f.txt", unifiedNamed("old/f.txt", "new/f.txt"), "new/f.txt"],
  ["f.txt", unifiedNamed("old/f.txt", "new/f.txt"), "f.txt"],
  ["f.txt", updateOf("f.txt "), "f.txt "],
  ["f.txt", updateOf("f.txt "), "f.txt"],
  ["f.txt ", updateOf("f.txt "), "f.txt "],
])(
  "the file %j, which %j changes, must have the revision that is expected of %j",
  async (path, patch, key) => {
    const { fixture, text, call } = openWith("one\n");
    await using _ = fixture;
    writeFileSync(fixture.at(path), "one\n");
    const sent = (revision: string) => ({ patch, expected_revisions: { [key]: revision } });
    const refused = await call("coder::apply-patch", sent(`sha256:${"0".repeat(64)}`)).catch(
      ({ message }: Error) => message,
    );
    expect(refused).toContain('"C221"');
    expect(readFileSync(fixture.at(path), "utf8")).toBe("one\n");
    const revision = `sha256:${createHash("sha256").update("one\n").digest("hex")}`;
    await text("coder::apply-patch", sent(revision));
    expect(readFileSync(fixture.at(path), "utf8")).toBe("two\n");
  },
);

test("a revision that is expected of a file beside the one that a padded name means is refused", async () => {
  const { fixture, call } = openWith("one\n");
  await using _ = fixture;
  writeFileSync(fixture.at("f.txt "), "one\n");
  const sent = { patch: updateOf("f.txt "), expected_revisions: { "f.txt": `sha256:${"0".repeat(64)}` } };
  const refused = await call("coder::apply-patch", sent).catch(({ message }: Error) => message);
  expect(refused).toContain("which the patch does not");
  expect(readFileSync(fixture.at("f.txt "), "utf8")).toBe("one\n");
});

test("a patch of too many files is refused before it is reversed", async () => {
  const { fixture, call } = openWith("");
  await using _ = fixture;
  const patch = Array.from({ length: 1001 }, (_, at) => `*** Delete File: ${at}\n`).join("");
  const reversed = call("coder::apply-patch", { patch, format: "v4a", reverse: true });
  expect(await reversed.catch(String)).toContain("1001 files");
});
