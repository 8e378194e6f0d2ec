/** Tests refusals of paths in the form of another program, with `literal` and without. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open() {
  const fixture = new SessionsFixture({ non_accessible_globs: ["denied*"] });
  writeFileSync(fixture.at("README.md"), "text\n");
  const { call } = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  /** Returns the refusal of a call, or its entries, without the escapes of JSON. */
  const refusalOf = async (id: string, payload: object): Promise<string> => {
    const answer = await call(id, payload).then(
      ({ results }) => results,
      ({ message }: Error) => message,
    );
    return JSON.stringify(answer).replaceAll(/\\+"/g, '"');
  };
  return { fixture, refusalOf };
}

const ops = [{ op: "insert", at_line: 1, content: "X" }];

const missing = ["README.md:3", "~/x", "$PWD/x", "${HOME}/x", "file:///x", '"x"', "'x'", "`x`"];

/** The requests that need an entry at a path. */
const requests: readonly (readonly [title: string, id: string, request: (path: string) => object])[] = [
  ["update", "coder::update-file", (path) => ({ path, ops })],
  [
    "update of several",
    "coder::update-file",
    (path) => ({
      files: [
        { path, ops },
        { path: "README.md", ops },
      ],
    }),
  ],
  ["dry update", "coder::update-file", (path) => ({ path, ops, dry_run: true })],
  ["move", "coder::move", (path) => ({ from: path, to: "m" })],
  ["move of several", "coder::move", (path) => ({ files: [{ from: path, to: "m" }] })],
  ["copy", "coder::copy", (path) => ({ from: path, to: "m" })],
  ["dry copy", "coder::copy", (path) => ({ from: path, to: "m", dry_run: true })],
  ["update in a transaction", "coder::transact", (path) => ({ changes: [{ op: "update", path, ops }] })],
  [
    "move in a transaction",
    "coder::transact",
    (path) => ({ changes: [{ op: "move", from: path, to: "m" }] }),
  ],
  [
    "patch",
    "coder::apply-patch",
    (path) => ({ patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch\n` }),
  ],
];

describe.each(requests)("%s", (_title, id, requestOf) => {
  test.each(missing)("of %j is advised to send `literal` only if it did not", async (path) => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const advised = await refusalOf(id, requestOf(path));
    expect(advised).toContain('If this is the name, send "literal": true.');
    const refusal = await refusalOf(id, { ...requestOf(path), literal: true });
    expect(refusal).toContain("is not found, or the configuration denies it");
    expect(refusal).not.toContain("literal");
  });

  test("of a denied path is answered by its rule if it is literal", async () => {
    const { fixture, refusalOf } = open();
    await using _ = fixture;
    const path = "denied.md:3";
    expect(await refusalOf(id, requestOf(path))).toContain("ends with the number of a line");
    expect(await refusalOf(id, { ...requestOf(path), literal: true })).toContain(
      "matches the deny rule denied*",
    );
  });
});
