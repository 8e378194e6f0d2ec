/** Tests the advice of refusals of empty paths, and of paths in a scope. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open(profile: "agent" | "contract" = "agent") {
  const fixture = new SessionsFixture({ profile });
  for (const folder of ["src", "src/src", "test"]) mkdirSync(fixture.at(folder));
  writeFileSync(fixture.at("test/a"), "text\n");
  const { call } = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  /** Returns the code and sentence of the refusal of a call, or of its first entry. */
  const refusalOf = async (id: string, payload: object) => {
    const text = await call(id, payload).then(
      ({ results }) => results[0].error as string | object,
      ({ message }: Error) => message,
    );
    const { code, message } = typeof text === "string" ? JSON.parse(text) : text;
    return `${code}: ${message}`;
  };
  return { fixture, refusalOf };
}

const ops = [{ op: "str_replace", old_str: "a", new_str: "b" }];

describe("an empty path of a change", () => {
  const requests: readonly (readonly [id: string, payload: object])[] = [
    ["coder::create-file", { files: [{ path: "", content: "" }] }],
    ["coder::update-file", { files: [{ path: "", ops }] }],
    ["coder::delete-file", { paths: [""] }],
    ["coder::make-folder", { paths: [""] }],
    ["coder::copy", { files: [{ from: "", to: "x" }] }],
    ["coder::move", { files: [{ from: "src", to: "" }] }],
    ["coder::transact", { changes: [{ op: "delete", path: "" }] }],
  ];

  test.each(requests)("is refused by %s without the advice to send the base", async (id, payload) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    expect(await refusalOf(id, payload)).toBe(
      `C210: ${id === "coder::transact" ? "Nothing was changed. " : ""}The path is empty. Send the path of a file or folder below the base folder, such as "src/main.ts".`,
    );
  });

  test("is refused with its place in a transaction", async () => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const changes = [
      { op: "delete", path: "test", recursive: true },
      { op: "make-folder", path: "" },
    ];
    expect(await refusalOf("coder::transact", { changes })).toStartWith(
      'C210: Nothing was changed. Change 2 of 2 (""): The path is empty. Send',
    );
  });

  test("is refused in the words of 0.2.0 in the profile contract", async () => {
    const { fixture, refusalOf } = open("contract");
    await using _ = fixture;
    expect(await refusalOf("coder::delete-file", { paths: [""] })).toBe(
      'C210: The path is empty; send a path relative to the base folder, such as "src/main.ts", or "." for the base itself.',
    );
  });
});

describe("a missing path in a scope", () => {
  const start = 'Paths of this call start at "test", the root of its `fs_scope`. Send the path without that.';

  test.each(["test/a", "./test/a", "test//a", "test"])("%s is said to start at its root", async (path) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const refusal = await refusalOf("coder::read-file", { path, fs_scope: { root: "test" } });
    expect(refusal).toStartWith("C211: ");
    expect(refusal).toEndWith(` ${start}`);
  });

  test.each([
    ["b", { root: "test" }],
    ["tests/a", { root: "test" }],
    ["test/b", { root: "." }],
    ["src/b", { root: "src", boundary: "." }],
  ])("%s with %j is not, unless it begins with that root", async (path, scope) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const refusal = await refusalOf("coder::read-file", { path, fs_scope: scope });
    expect(refusal).toStartWith("C211: ");
    expect(refusal.includes("Paths of this call start")).toBe(path === "src/b");
  });

  test("has its usual refusal in the profile contract", async () => {
    const { fixture, refusalOf } = open("contract");
    await using _ = fixture;
    expect(await refusalOf("coder::read-file", { path: "test/a", fs_scope: { root: "test" } })).not.toContain(
      "Paths of this call",
    );
  });
});

test.each([
  [
    { root: "src", grants: [{ path: ".", read_only: true }] },
    'The grant "." of `fs_scope` is outside its boundary, "src".',
  ],
  [
    { root: "src", grants: ["src/src", "test"] },
    'The grant "test" of `fs_scope` is outside its boundary, "src".',
  ],
  [{ root: "test", boundary: "src" }, 'The root "test" of `fs_scope` is outside its boundary, "src".'],
])("the scope %j is refused by its part", async (fs_scope, sentence) => {
  const { fixture, refusalOf } = open();
  await using _ = fixture;
  expect(await refusalOf("coder::read-file", { path: "a", fs_scope })).toStartWith(
    `C220: ${sentence} Nothing was done. Send a `,
  );
});
