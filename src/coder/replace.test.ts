import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { wordingFor } from "../calls/contract/wording.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

function open() {
  const fixture = new SessionsFixture();
  for (const folder of ["src", "node_modules", "out"]) mkdirSync(fixture.at(folder));
  writeFileSync(fixture.at(".gitignore"), "out/\n");
  for (const path of ["src/a.ts", "src/b.ts", "node_modules/c.ts", "out/d.ts", ".env"])
    writeFileSync(fixture.at(path), "getUser();\ngetUser(1);\n");
  const read = (path: string) => readFileSync(fixture.at(path), "utf8");
  return { fixture, read, ...fixture.open(author) };
}

/** Returns the error of a call. `expect().rejects` of Bun keeps the watched tree from being read. */
const errorOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "no error",
    (error: Error) => error.message,
  );

const rename = { query: "getUser", replacement: "loadUser" };

test("a text is replaced in the files that a search finds, in one checkpoint", async () => {
  const { fixture, read, text, call } = open();
  await using _ = fixture;
  expect(await text("coder::replace", rename)).toBe(
    [
      "4 matches in 2 files replaced",
      "src/a.ts: 2 matches",
      "1→loadUser();",
      "2→loadUser(1);",
      "src/b.ts: 2 matches",
      "1→loadUser();",
      "2→loadUser(1);",
      "[not searched: node_modules/ excluded (use_default_excludes: false), out/ ignored (respect_gitignore: false), 1 denied]",
      "#1",
    ].join("\n"),
  );
  expect(["src/a.ts", "src/b.ts", "node_modules/c.ts", "out/d.ts", ".env"].map(read)).toEqual([
    ...Array(2).fill("loadUser();\nloadUser(1);\n"),
    ...Array(3).fill("getUser();\ngetUser(1);\n"),
  ]);
  await call("coder::undo");
  expect(read("src/a.ts")).toBe("getUser();\ngetUser(1);\n");
});

test("a file that is too large to be replaced is told of the limit", async () => {
  await using fixture = new SessionsFixture({ max_write_bytes: 8 });
  const { text } = fixture.open(author);
  writeFileSync(fixture.at("a"), "getUser\n");
  writeFileSync(fixture.at("b"), "getUser()\n");
  const shown = await text("coder::replace", { ...rename, replacement: "user", answer: "none" });
  expect(shown.split("\n")).toContain(
    "[not searched: 1 too large (over 8 bytes, the max_write_bytes of the configuration; only the user can raise it)]",
  );
});

test("names that are not UTF-8 are counted, and no other file is changed in their place", async () => {
  await using fixture = new SessionsFixture();
  const { text, call } = fixture.open(author);
  const write = (name: string | Buffer, content: string) =>
    writeFileSync(Buffer.concat([Buffer.from(fixture.at("a")), Buffer.from(name)]), content);
  write(Buffer.from([0xff]), "data1\n");
  write(Buffer.from([0xfe]), "data2\n");
  write("\ufffd", "other\n");
  const query = { query: "data", replacement: "datadata" };
  const left = "[not replaced: 2 files that match, with a name that is not UTF-8]";
  expect(await text("coder::replace", query)).toBe(left);
  write("\ufffd", "data3\n");
  write("b", "data4\n");
  expect(await text("coder::replace", query)).toBe(
    `2 matches in 2 files replaced\nab: 1 match\n1→datadata4\na\ufffd: 1 match\n1→datadata3\n${left}\n#1`,
  );
  expect(await call("coder::replace", { ...query, dry_run: true })).toMatchObject({
    files: [
      { path: "ab", matches: 2 },
      { path: "a\ufffd", matches: 2 },
    ],
    not_replaced: 2,
  });
});

test("another number of matches or files than expected changes nothing", async () => {
  const { fixture, read, call } = open();
  await using _ = fixture;
  expect(await errorOf(call("coder::replace", { ...rename, expect_matches: 5 }))).toContain(
    "`expect_matches` is 5, and there are 4. Nothing was changed.",
  );
  expect(await errorOf(call("coder::replace", { ...rename, expect_files: 3 }))).toContain(
    "`expect_files` is 3, and there are 2",
  );
  expect(read("src/a.ts")).toBe("getUser();\ngetUser(1);\n");
  const { files } = await call("coder::replace", { ...rename, expect_files: 2, expect_matches: 4 });
  expect(files).toEqual([
    { path: "src/a.ts", matches: 2 },
    { path: "src/b.ts", matches: 2 },
  ]);
});

test("a dry run gives a plan, which is stale once a file has changed", async () => {
  const { fixture, read, call } = open();
  await using _ = fixture;
  const first = await call("coder::replace", { ...rename, dry_run: true });
  expect([first.committed, read("src/a.ts")]).toEqual([false, "getUser();\ngetUser(1);\n"]);
  const done = await call("coder::commit", { plan: first.plan });
  expect([done.committed, done.files.length, read("src/b.ts")]).toEqual([
    true,
    2,
    "loadUser();\nloadUser(1);\n",
  ]);
  const back = { query: "loadUser", replacement: "getUser", dry_run: true };
  const { plan } = await call("coder::replace", back);
  writeFileSync(fixture.at("src/a.ts"), "loadUser(2);\n");
  expect(await errorOf(call("coder::commit", { plan }))).toContain("C221");
});

test("nothing is replaced without a match, nor in a protected file", async () => {
  const { fixture, text, call, read } = open();
  await using _ = fixture;
  expect(await text("coder::replace", { query: "nowhere", replacement: "" })).toStartWith("[nothing found");
  const inFile = { query: "getUser", replacement: "x", path: "src/a.ts", dry_run: true };
  expect(await text("coder::replace", { ...inFile, include_globs: ["*.md"] })).toContain(
    '\n["include_globs" selects in folders only, and "path" is a file]',
  );
  expect(await text("coder::replace", inFile)).not.toContain("folders only");
  expect(await errorOf(call("coder::replace", { query: "", replacement: "x" }))).toContain(
    "`query` is empty",
  );
  expect(await errorOf(call("coder::replace", { query: "x", replacement: "x" }))).toContain("are equal");
  mkdirSync(fixture.at(".vscode"));
  writeFileSync(fixture.at(".vscode/settings.json"), "getUser\n");
  expect(await errorOf(call("coder::replace", rename))).toMatch(
    /C222.*Nothing was changed\. File 1 of 3 \(\\"\.vscode\/settings\.json\\"\)/,
  );
  expect(read("src/a.ts")).toBe("getUser();\ngetUser(1);\n");
  const { files } = await call("coder::replace", { ...rename, exclude_globs: [".vscode"], path: "src/a.ts" });
  expect(files).toEqual([{ path: "src/a.ts", matches: 2 }]);
});

test.each([
  ["agent", false],
  ["contract", true],
] as const)(
  "a replacement without a match says in the profile %s that it is committed: %p",
  async (profile, committed) => {
    await using fixture = new SessionsFixture({ profile });
    const { call } = fixture.open(author);
    writeFileSync(fixture.at("a"), "one\n");
    const nowhere = { query: "two", replacement: "2" };
    const done = { committed, files: [], results: [] };
    expect(await call("coder::replace", nowhere)).toEqual(done);
    const { plan, ...dry } = await call("coder::replace", { ...nowhere, dry_run: true });
    expect(dry).toMatchObject({ ...done, committed: false });
    expect(await call("coder::commit", { plan })).toEqual(done);
    const same = { query: "O(NE)", replacement: "o$1", regex: true, ignore_case: true };
    expect(await call("coder::replace", same)).toMatchObject({ committed: true, files: [{ matches: 1 }] });
  },
);

test("a query that matches nothing is explained", async () => {
  const { fixture, text } = open();
  await using _ = fixture;
  const replaced = (query: string, regex: boolean) =>
    text("coder::replace", { query, regex, replacement: "x", path: "src" });
  expect(await replaced("^getUser\\(1", true)).toContain(
    '[nothing found; "ignore_case": true would ignore case]\n[^ and $ are the ends of each file; with (?m) before the query, those of each line]',
  );
  expect(await replaced("getUser\\(.*", false)).toContain('"regex": true would read it as a pattern');
  expect(await replaced("(?m)^getUser\\(1", true)).toStartWith("2 matches in 2 files replaced");
});

test("^ and $ are explained, whether they matched or not", async () => {
  const { fixture, text } = open();
  await using _ = fixture;
  const replaced = (query: string) =>
    text("coder::replace", { query, regex: true, replacement: "x", path: "src", dry_run: true });
  const note = "[^ and $ are the ends of each file; with (?m) before the query, those of each line]";
  for (const query of ["\\s+$", "^getUser", "none$", "\\\\$"]) expect(await replaced(query)).toContain(note);
  for (const query of ["(?m)\\s+$", "(?im)^GET", "[^a]U", "\\$", "[$^]", "\\^"])
    expect(await replaced(query)).not.toContain("(?m)");
});

test("a count that was not expected names the files, and says if there are more", async () => {
  const { fixture, call } = open();
  await using _ = fixture;
  mkdirSync(fixture.at("many"));
  for (let number = 10; number < 35; number++) writeFileSync(fixture.at(`many/${number}`), "TODO TODO\n");
  const { failure } = wordingFor((id) => id);
  const replaced = async (fields: object) =>
    failure(await errorOf(call("coder::replace", { query: "TODO", replacement: "", ...fields })));
  const many = await replaced({ path: "many", expect_matches: 1 });
  expect(many).toStartWith(
    "C210 invalid_argument: `expect_matches` is 1, and there are 50. Nothing was changed. Narrow `path` or the globs, or send the actual number. The first 20 of 25 files with matches follow.\nmany/10: 2 matches\n",
  );
  expect(many.split("\n")).toHaveLength(21);
  expect(await replaced({ path: "many/11", expect_files: 2 })).toEndWith(
    "The files with matches follow.\nmany/11: 2 matches",
  );
  expect(await replaced({ path: "many", query: "none", expect_files: 2 })).toEndWith(
    "send the actual number.",
  );
});

describe("matches whose lines are not shown are counted, with the call that shows them", () => {
  const steps = (count: number, end = "") => `${`step${end}\n\n\n\n\n\n`.repeat(count)}`;
  const replaced = { query: "step", replacement: "phase" };
  const notesOf = (text: string) => text.split("\n").filter((line) => /match|not shown/.test(line));

  test("after the first five of a file", async () => {
    const { fixture, text } = open();
    await using _ = fixture;
    writeFileSync(fixture.at("one.txt"), steps(14));
    writeFileSync(fixture.at("two.txt"), steps(2));
    expect(notesOf(await text("coder::replace", { ...replaced, dry_run: true }))).toEqual([
      "16 matches in 2 files would be replaced",
      "one.txt: 14 matches; the first 5 are shown",
      "two.txt: 2 matches",
      '[not shown: 9 of 16 matches; send "answer": "diff", or fewer files by `path` or `include_globs`]',
    ]);
    expect(notesOf(await text("coder::replace", { ...replaced, answer: "diff", dry_run: true }))).toEqual([
      "16 matches in 2 files would be replaced",
      "one.txt: 14 matches",
      "two.txt: 2 matches",
    ]);
    expect(notesOf(await text("coder::replace", { ...replaced, answer: "none", dry_run: true })).length).toBe(
      3,
    );
    const done = notesOf(await text("coder::replace", replaced));
    expect(done.at(-1)).toBe(
      '[not shown: 9 of 16 matches; coder::checkpoints with "seq": 1 and "answer": "diff" shows more]',
    );
    const shown = await text("coder::checkpoints", { seq: 1, answer: "diff" });
    expect(shown.match(/^\+phase$/gm)?.length).toBe(16);
  });

  test("after as many bytes as an answer has room for", async () => {
    const { fixture, text } = open();
    await using _ = fixture;
    for (let file = 10; file < 40; file++)
      writeFileSync(fixture.at(`f${file}.txt`), steps(3, "x".repeat(500)));
    const notes = notesOf(await text("coder::replace", replaced));
    const hidden = notes.filter((line) => line.endsWith(": 3 matches, not shown")).length;
    expect(hidden).toBeGreaterThan(0);
    expect(notes.filter((line) => line.endsWith(": 3 matches")).length).toBe(30 - hidden);
    expect(notes.at(-1)).toContain(`[not shown: ${3 * hidden} of 90 matches; `);
  });

  test("in a file with more lines than it may show", async () => {
    const { fixture, text } = open();
    await using _ = fixture;
    writeFileSync(fixture.at("one.txt"), steps(14, "x".repeat(1500)));
    const notes = notesOf(await text("coder::replace", replaced));
    expect(notes.slice(0, 3)).toEqual([
      "14 matches in 1 file replaced",
      "one.txt: 14 matches",
      "[more of it is not shown]",
    ]);
    expect(notes.at(-1)).toContain("[not shown: at least 9 of 14 matches; coder::checkpoints ");
  });
});

test.each([3, 12])(
  "a plan counts all of %d files that have changed since, and names the first three",
  async (count) => {
    const { fixture, read, text, call } = open();
    await using _ = fixture;
    const paths = Array.from({ length: count }, (_, at) => `src/${10 + at}.ts`);
    const write = (content: string) => {
      for (const path of paths) writeFileSync(fixture.at(path), content);
    };
    write("getUser();\n");
    const [plan] = /(?<=plan )[0-9a-f]{32}/.exec(await text("coder::replace", { ...rename, dry_run: true }))!;
    write("getUser(2);\n");
    const { message, details } = JSON.parse(await errorOf(call("coder::commit", { plan })));
    expect(message).toContain(
      count === 3
        ? `"${plan}" was made. Nothing`
        : `"${plan}" was made: 12, the first 3 in \`paths\`. Nothing`,
    );
    expect(details.paths).toEqual(paths.slice(0, 3));
    expect(paths.map(read)).toEqual(paths.map(() => "getUser(2);\n"));
  },
);
