import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { batchOf, type Case, contentRevision, errorWith, Matcher } from "../case.ts";

const id = "coder::create-file";

interface Entry {
  readonly path: string;
  readonly content: string;
  readonly overwrite?: boolean;
  readonly expected_revision?: unknown;
}

const batch = batchOf(id, (files: readonly Entry[]) => ({ files }));

const written = ({ path, content }: Entry) => ({
  path,
  success: true,
  bytes_written: Buffer.byteLength(content),
  revision: contentRevision(content),
});

const creates = (name: string, tree: Tree, entry: Entry, changes: Changes): Case =>
  batch(name, tree, [entry], { results: [written(entry)], tree: changes });

const failed = (path: string, error: unknown) => ({ path, success: false, bytes_written: 0, error });

const refuses = (name: string, tree: Tree, entry: Entry, error: readonly [ErrorCode, ...string[]]): Case =>
  batch(name, tree, [entry], { results: [failed(entry.path, errorWith(...error))], tree: {} });

/** Matches an error that reports the current revision and shows the current content. */
const mismatch = (path: string, expected: string, current: string) =>
  new Matcher(`C221 with ${JSON.stringify(current)}`, (value) => {
    const { code, reason, details } = JSON.parse(String(value));
    return (
      code === "C221" &&
      reason === "revision_mismatch" &&
      Bun.deepEquals(details, {
        path,
        expected,
        current: contentRevision(current),
        size: Buffer.byteLength(current),
        total_lines: current.split("\n").length - 1,
        window: { from_line: 1, content: current },
      })
    );
  });

const conflicts = (name: string, tree: Tree, entry: Entry, current: string): Case =>
  batch(name, tree, [{ overwrite: true, ...entry }], {
    results: [failed(entry.path, mismatch(entry.path, String(entry.expected_revision), current))],
    tree: {},
  });

const content = "new\n";
const old = contentRevision("old\n");

export const cases: readonly Case[] = [
  creates(
    "the expected file is replaced",
    { a: "old\n" },
    { path: "a", content, overwrite: true, expected_revision: old },
    { a: content },
  ),
  creates(
    "the expected file is replaced by itself",
    { a: "old\n" },
    { path: "a", content: "old\n", overwrite: true, expected_revision: old },
    {},
  ),
  creates(
    "an empty file is replaced",
    { a: "" },
    { path: "a", content, overwrite: true, expected_revision: contentRevision("") },
    { a: content },
  ),
  creates("nothing is there", {}, { path: "s/a", content, expected_revision: "absent" }, { "s/a": content }),
  creates(
    "nothing is there, with overwrite",
    {},
    { path: "a", content, overwrite: true, expected_revision: "absent" },
    { a: content },
  ),
  conflicts(
    "another file is there",
    { a: "other\n" },
    { path: "a", content, expected_revision: old },
    "other\n",
  ),
  conflicts(
    "one byte more is there",
    { a: "old\n\n" },
    { path: "a", content, expected_revision: old },
    "old\n\n",
  ),
  conflicts("an empty file is there", { a: "" }, { path: "a", content, expected_revision: old }, ""),
  conflicts(
    "a file where nothing may be",
    { a: "old\n" },
    { path: "a", content, expected_revision: "absent" },
    "old\n",
  ),
  conflicts(
    "another file is there, through a link",
    { a: "other\n", ln: { link: "a" } },
    { path: "ln", content, expected_revision: old },
    "other\n",
  ),
  refuses("a file is expected where nothing is", {}, { path: "a", content, expected_revision: old }, [
    "C211",
    "not found",
  ]),
  refuses(
    "a file is expected where nothing is, with overwrite",
    {},
    { path: "a", content, overwrite: true, expected_revision: old },
    ["C211", "not found"],
  ),
  refuses(
    "a file is expected where a denied one is",
    { ".env": "old\n" },
    { path: ".env", content, overwrite: true, expected_revision: old },
    ["C211", "not found"],
  ),
  refuses(
    "without overwrite the expected file stays",
    { a: "old\n" },
    { path: "a", content, expected_revision: old },
    ["C217", "overwrite"],
  ),
  refuses(
    "a folder is there",
    { "a/b": "b" },
    { path: "a", content, overwrite: true, expected_revision: old },
    ["C210", "folder"],
  ),
  ...["", "sha256:", old.toUpperCase(), old.slice(7), `${old}0`, ` ${old}`, "Absent", "none"].map((bad) =>
    refuses(
      `the revision ${JSON.stringify(bad)} is none`,
      { a: "old\n" },
      { path: "a", content, overwrite: true, expected_revision: bad },
      ["C210", "expected_revision", "sha256:"],
    ),
  ),
  batch(
    "null expects nothing",
    { a: "old\n" },
    [{ path: "a", content, overwrite: true, expected_revision: null }],
    {
      results: [{ path: "a", success: true, bytes_written: 4 }],
      tree: { a: content },
    },
  ),
  batch(
    "a mismatch leaves the other entries alone",
    { a: "other\n" },
    [
      { path: "a", content, overwrite: true, expected_revision: old },
      { path: "b", content },
    ],
    {
      results: [failed("a", mismatch("a", old, "other\n")), { path: "b", success: true, bytes_written: 4 }],
      tree: { b: content },
    },
  ),
  {
    name: "profile agent: what was written is answered with its revision",
    config: { profile: "agent" },
    tree: {},
    call: { function: id, payload: { files: [{ path: "a", content }] } },
    expect: {
      answer: { results: [written({ path: "a", content })] },
      tree: { a: { text: content, mode: 0o640 } },
    },
  },
];
