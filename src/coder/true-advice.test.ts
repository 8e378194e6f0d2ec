/** Tests that calls which follow the advice of a refusal succeed, and that none is advised that cannot. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open() {
  const fixture = new SessionsFixture();
  for (const folder of ["src", "docs"]) mkdirSync(fixture.at(folder));
  for (const file of ["README.md", "src/main.ts", "docs/my file.md", ".env"])
    writeFileSync(fixture.at(file), "text\ntext\n");
  writeFileSync(`${fixture.root}/outside.md`, "");
  symlinkSync("nowhere", fixture.at("link"));
  const { call } = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  /** Returns the sentence of the refusal of a call, or of its first entry; `undefined` if it succeeds. */
  const refusalOf = async (id: string, payload: object): Promise<string | undefined> => {
    const text = await call(id, payload).then(
      ({ results }) => results?.[0].error as string | object | undefined,
      ({ message }: Error) => message,
    );
    return typeof text === "string" ? JSON.parse(text).message : (text as { message?: string })?.message;
  };
  return { fixture, refusalOf };
}

describe.each(["coder::tree", "coder::list-folder"])("%s of a mistyped file", (id) => {
  test.each([
    "readme.md",
    "README.md/",
    "README.txt",
    "main.ts",
    "$PWD/../README.md/",
    "/README.md",
    "../src/main.ts",
  ])("%s is not advised to send a file", async (path) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const refusal = await refusalOf(id, { path });
    expect(refusal).not.toContain("Did you mean");
    expect(refusal).not.toContain("leave out");
  });

  test("names the function that reads it, and proposes a folder if one is similar", async () => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    expect(await refusalOf(id, { path: "readme.md" })).toEndWith(
      "There is a file README.md; name a folder, or read a file with coder::read-file.",
    );
    expect(await refusalOf(id, { path: "SRC" })).toEndWith("Did you mean src?");
  });
});

test("a text that is there more often than expected is advised with the right number", async () => {
  const { fixture, refusalOf } = open();
  await using _ = fixture;
  const edit = (fields: object) =>
    refusalOf("coder::update-file", {
      path: "README.md",
      ops: [{ op: "str_replace", old_str: "text", new_str: "word", ...fields }],
    });
  expect(await edit({ expect_matches: 1 })).toEndWith('or "replace_all": true and "expect_matches": 2.');
  expect(await edit({ expect_matches: 2 })).toEndWith('or "replace_all": true.');
  expect(await edit({})).toEndWith('or "replace_all": true.');
  expect(await edit({ replace_all: true, expect_matches: 2 })).toBeUndefined();
});

test("a file that must not be there is not advised to be overwritten with that expectation", async () => {
  const { fixture, refusalOf } = open();
  await using _ = fixture;
  const create = (fields: object) =>
    refusalOf("coder::create-file", { path: "README.md", content: "new\n", ...fields });
  expect(await create({ expected_revision: "absent" })).toContain(
    'send "overwrite": true without `expected_revision` to replace it',
  );
  const change = { op: "create", path: "README.md", content: "new\n", expected_revision: "absent" };
  expect(await refusalOf("coder::transact", { changes: [change] })).toContain(
    'send "overwrite": true without `expected_revision` to replace it',
  );
  const patch = "*** Begin Patch\n*** Add File: README.md\n+new\n*** End Patch\n";
  const expected = { expected_revisions: { "README.md": "absent" } };
  expect(await refusalOf("coder::apply-patch", { patch, ...expected })).toContain(
    "Leave it out of `expected_revisions`, and name it as a file to update",
  );
  expect(await create({ overwrite: true })).toBeUndefined();
});

test.each([
  ["coder::tree", { exclude: ["x"] }],
  ["coder::tree", { exclude: "x" }],
  ["coder::tree", { include: "*.ts" }],
  ["coder::tree", { old: "x" }],
  ["coder::read-file", { path: "README.md", start: "x" }],
])("%s %j is not advised to send a field that cannot hold the value", async (id, payload) => {
  const { fixture, refusalOf } = open();
  await using _ = fixture;
  expect(await refusalOf(id, payload)).not.toContain("Did you mean");
});

describe("a path in the form of another place", () => {
  const forms: readonly (readonly [path: string, meant: string])[] = [
    ["/README.md", "README.md"],
    ["../README.md", "README.md"],
    ["../../README.md", "README.md"],
    ["../base/README.md", "README.md"],
    ["/elsewhere/base/src/main.ts", "src/main.ts"],
    ["/src/main.ts", "src/main.ts"],
    ["docs/my%20file.md", "docs/my file.md"],
    ["docs/my\\ file.md", "docs/my file.md"],
    ["src%2Fmain.ts", "src/main.ts"],
    ["/docs/my%20file.md", "docs/my file.md"],
  ];

  test.each(forms)("%s is answered with the one that is there", async (path, meant) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    expect(basename(fixture.base)).toBe("base");
    for (const [id, payload] of [
      ["coder::read-file", { path }],
      ["coder::search", { query: "text", path }],
      ["coder::update-file", { path, ops: [{ op: "insert", at_line: 1, content: "X" }] }],
      ["coder::move", { from: path, to: "moved" }],
    ] as const)
      expect(await refusalOf(id, payload)).toEndWith(`Did you mean ${meant}?`);
    expect(await refusalOf("coder::read-file", { path: meant })).toBeUndefined();
  });

  test.each([
    ["/outside.md", "../outside.md"],
    ["/.env", "/.missing"],
    ["%2Eenv", "%2Emissing"],
  ])("%s is refused like %s, which is not there", async (path, missing) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const refusal = await refusalOf("coder::read-file", { path });
    expect(refusal).not.toContain("Did you mean");
    expect(refusal!.replaceAll(path, "P")).toBe(
      (await refusalOf("coder::read-file", { path: missing }))!.replaceAll(missing, "P"),
    );
  });

  test("is not answered with an entry that would be in the way", async () => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    for (const [id, payload] of [
      ["coder::create-file", { path: "/README.md", content: "" }],
      ["coder::move", { from: "src/main.ts", to: "../README.md" }],
      ["coder::transact", { changes: [{ op: "move", from: "src/main.ts", to: "/README.md" }] }],
    ] as const)
      expect(await refusalOf(id, payload)).not.toContain("Did you mean");
  });

  test("is refused as in 0.2.0 in the profile contract", async () => {
    await using fixture = new SessionsFixture({ profile: "contract" });
    writeFileSync(fixture.at("README.md"), "text\n");
    const { call } = fixture.open({ session: "a" });
    for (const path of ["/README.md", "../README.md", "R%45ADME.md"]) {
      const { message } = await call("coder::read-file", { path }).then(
        () => ({ message: "" }),
        (error: Error) => error,
      );
      expect(message).toContain(path);
      expect(message).not.toContain("Did you mean");
    }
  });
});
