/** Dry runs of calls with several entries. Each entry finds the tree that the earlier ones would leave. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };
const nothingChanged = "[dry run: nothing was changed]";

function open(config: ConstructorParameters<typeof SessionsFixture>[0] = {}) {
  const fixture = new SessionsFixture(config);
  const { call, text } = fixture.open(author);
  const dry = (id: string, sent: object) => text(id, { ...sent, dry_run: true });
  return { fixture, call, dry };
}

test("a move of a path that an earlier entry takes away fails, and says so", async () => {
  const { fixture, dry } = open();
  await using _ = fixture;
  mkdirSync(fixture.at("d/a"), { recursive: true });
  writeFileSync(fixture.at("d/a/c"), "x\n");
  const files = [
    { from: "d/a/c", to: "d/d" },
    { from: "d", to: "b/c/b" },
    { from: "d/a", to: "a/c/d" },
    { from: "b/c/b/d", to: "e" },
  ];
  expect(await dry("coder::move", { files })).toBe(
    [
      "3 of 4 would be moved; failed: d/a",
      "d/a/c: moved to d/d",
      "d: moved to b/c/b",
      'C211 no_such_path: "d/a" is not found, or the configuration denies it. A change before it in this call moves it to b/c/b/a.',
      "b/c/b/d: moved to e",
      nothingChanged,
    ].join("\n"),
  );
});

test("a transaction does not call a path denied that an earlier change takes away", async () => {
  const { fixture, call } = open();
  await using _ = fixture;
  mkdirSync(fixture.at("b/x"), { recursive: true });
  const changes = [
    { op: "move", from: "b", to: "c" },
    { op: "move", from: "b/x", to: "d" },
  ];
  const sentence =
    'Change 2 of 2 (\\"b/x\\"): \\"b/x\\" is not found, or the configuration denies it. A change before it in this call moves or removes it.';
  for (const dry_run of [true, false])
    await expect(call("coder::transact", { changes, dry_run })).rejects.toThrow(sentence);
  expect(readdirSync(fixture.base)).toEqual(["b"]);
});

test("deletions of a folder and of what is in it are counted once", async () => {
  const { fixture, dry } = open();
  await using _ = fixture;
  mkdirSync(fixture.at("t/u"), { recursive: true });
  for (const path of ["t/u/f", "t/g"]) writeFileSync(fixture.at(path), "x\n");
  const paths = ["t/u", "t/u/f", "t/g", "t"];
  expect(await dry("coder::delete-file", { paths, recursive: true })).toBe(
    `t/u: removed, with 1 file in it\nt/u/f: was not there\nt/g: removed\nt: removed\n${nothingChanged}`,
  );
  expect(await dry("coder::delete-file", { paths: ["t/u/f", "t/u", "t/g", "t"] })).not.toContain("failed");
});

const edit = (path: string, old_str: string, new_str: string) => ({
  path,
  ops: [{ op: "str_replace", old_str, new_str }],
});

test("edits of one file find the text that those before them would leave, through links too", async () => {
  const { fixture, dry } = open();
  await using _ = fixture;
  writeFileSync(fixture.at("a"), "one\n");
  symlinkSync("a", fixture.at("l"));
  const files = [edit("a", "one", "two"), edit("l", "two", "three"), edit("a", "three", "four")];
  expect(await dry("coder::update-file", { files })).not.toContain("failed");
  expect(await dry("coder::update-file", { files: files.toReversed() })).toStartWith(
    "1 of 3 would be changed; failed: a, l",
  );
  expect(readFileSync(fixture.at("a"), "utf8")).toBe("one\n");
});

test("only contents that a later entry needs count towards the limit of a plan", async () => {
  const { fixture, dry } = open({ max_transaction_bytes: 2048 });
  await using _ = fixture;
  const paths = ["a", "b", "c"];
  for (const path of paths) writeFileSync(fixture.at(path), `one${"x".repeat(1500)}`);
  const files = paths.map((path) => edit(path, "one", "two"));
  expect(await dry("coder::update-file", { files })).not.toContain("failed");
  expect(await dry("coder::update-file", { files: [...files, ...files] })).toContain("max_transaction_bytes");
  const created = ["d", "e"].map((path) => ({ path, content: "x".repeat(1500) }));
  expect(await dry("coder::create-file", { files: created })).not.toContain("failed");
});

test("a folder of many entries is copied, and its copy changed and copied on", async () => {
  const { fixture, dry } = open();
  await using _ = fixture;
  mkdirSync(fixture.at("big"));
  for (let index = 0; index < 2001; index++) writeFileSync(fixture.at(`big/${index}`), "");
  const files = [
    { from: "big", to: "one" },
    { from: "big/0", to: "one/new" },
    { from: "one", to: "two" },
  ];
  expect(await dry("coder::copy", { files })).not.toContain("failed");
});

test("a folder that an earlier entry moves goes on into another root", async () => {
  const fixture = new SessionsFixture();
  await using _ = fixture;
  const roots = ["one", "two"].map((name) => {
    const path = fixture.at(name);
    mkdirSync(path);
    return { name, path, read_only: false, non_accessible_globs: [] };
  });
  mkdirSync(fixture.at("one/d"));
  writeFileSync(fixture.at("one/d/f"), "f\n");
  const several = open({ roots });
  await using __ = several.fixture;
  const files = [
    { from: "one/d", to: "one/e" },
    { from: "one/e", to: "two/e" },
    { from: "two/e/f", to: "one/f" },
    { from: "one/e/f", to: "two/f" },
  ];
  expect(await several.dry("coder::move", { files })).toStartWith("3 of 4 would be moved; failed: one/e/f");
  expect(readdirSync(fixture.at("two"))).toEqual([]);
  const { results } = await several.call("coder::move", { files });
  expect(results.map(({ success }: { success: boolean }) => success)).toEqual([true, true, true, false]);
});
