import type { ErrorCode } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { batchOf, type Case, contentRevision, errorWith, failure, Matcher } from "../case.ts";

const id = "coder::delete-file";

interface Request {
  readonly paths: readonly string[];
  readonly expected_revisions: Readonly<Record<string, string>>;
  readonly recursive?: boolean;
}

const batch = batchOf(id, (payload: Request) => payload);

const removed = (path: string) => ({ path, success: true, removed: true });
const failed = (path: string, error: unknown) => ({ path, success: false, removed: false, error });

const a = contentRevision("a\n");

const removes = (name: string, tree: Tree, path: string, changes: Changes): Case =>
  batch(
    name,
    tree,
    { paths: [path], expected_revisions: { [path]: a } },
    { results: [removed(path)], tree: changes },
  );

const refuses = (name: string, tree: Tree, path: string, error: readonly [ErrorCode, ...string[]]): Case =>
  batch(
    name,
    tree,
    { paths: [path], expected_revisions: { [path]: a }, recursive: true },
    { results: [failed(path, errorWith(...error))], tree: {} },
  );

/** Matches C221 with the current revision and content of the file. */
const shows = (content: string) =>
  new Matcher(`C221 with ${JSON.stringify(content)}`, (value) => {
    const { code, details } = JSON.parse(String(value));
    return (
      code === "C221" && details.current === contentRevision(content) && details.window.content === content
    );
  });

export const cases: readonly Case[] = [
  removes("the expected file", { a: "a\n", b: "b" }, "a", { a: gone }),
  removes("the expected file, written in another way", { "s/a": "a\n" }, "./s//a", { "s/a": gone }),
  batch(
    "another file stays, and is shown",
    { a: "b\n" },
    { paths: ["a"], expected_revisions: { a } },
    { results: [failed("a", shows("b\n"))], tree: {} },
  ),
  batch(
    "a file of which nothing is expected goes",
    { a: "b\n", b: "a\n" },
    { paths: ["a", "b"], expected_revisions: { b: a } },
    { results: [removed("a"), removed("b")], tree: { a: gone, b: gone } },
  ),
  batch(
    "what is not there is removed already",
    {},
    { paths: ["a"], expected_revisions: { a } },
    { results: [{ path: "a", success: true, removed: false }], tree: {} },
  ),
  batch(
    "each path has its own",
    { a: "a\n", b: "b\n", c: "c\n" },
    { paths: ["a", "b", "c"], expected_revisions: { a, b: a, c: contentRevision("c\n") } },
    { results: [removed("a"), failed("b", shows("b\n")), removed("c")], tree: { a: gone, c: gone } },
  ),
  batch(
    "a key named __proto__ is a path like any other",
    { ["__proto__"]: "a\n" },
    { paths: ["__proto__"], expected_revisions: JSON.parse(`{"__proto__":${JSON.stringify(a)}}`) },
    { results: [removed("__proto__")], tree: { ["__proto__"]: gone } },
  ),
  refuses("a folder has no revision", { "a/b": "a\n" }, "a", ["C210", "not a regular file"]),
  refuses("a link has none", { a: "a\n", ln: { link: "a" } }, "ln", ["C210", "not a regular file"]),
  refuses("a denied file", { ".env": "a\n" }, ".env", ["C211", "not found"]),
  batch(
    "what is no revision",
    { a: "a\n" },
    { paths: ["a"], expected_revisions: { a: "absent" } },
    { results: [failed("a", errorWith("C210", "expected_revision", "sha256:"))], tree: {} },
  ),
  ...[7, "x", ["a"], true].map((wrong) => ({
    name: `expected_revisions is ${JSON.stringify(wrong)}`,
    tree: { a: "a\n" },
    call: { function: id, payload: { paths: ["a"], expected_revisions: wrong } },
    expect: { error: failure("C210", "expected_revisions", "object") },
  })),
  ...["b", "./b", "__proto__"].map((path) => ({
    name: `expected_revisions names ${path}, which is none of the paths`,
    tree: { a: "a\n" },
    call: {
      function: id,
      payload: JSON.parse(
        `{"paths":["a"],"expected_revisions":{${JSON.stringify(path)}:${JSON.stringify(a)}}}`,
      ),
    },
    expect: { error: failure("C210", "expected_revisions", path) },
  })),
  {
    name: "expected_revisions holds what is no string",
    tree: { a: "a\n" },
    call: { function: id, payload: { paths: ["a"], expected_revisions: { a: 7 } } },
    expect: { error: failure("C210", 'expected_revisions["a"]', "a string") },
  },
];
