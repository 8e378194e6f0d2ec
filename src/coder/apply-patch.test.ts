import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
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

test("in V4A, blanks around a name belong to it if there is such a file", async () => {
  const { fixture, text } = openWith("");
  await using _ = fixture;
  const v4a = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
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
