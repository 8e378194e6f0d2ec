import type { ErrorCode } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { batchOf, type Case, contentRevision, errorWith } from "../case.ts";

const id = "coder::move";

interface Entry {
  readonly from: string;
  readonly to: string;
  readonly expected_revision: string;
  readonly overwrite?: boolean;
}

interface Expected {
  readonly results: readonly unknown[];
  readonly tree: Changes;
}

const batch = batchOf(id, (files: readonly Entry[]) => ({ files }));
const tryBatch = batchOf(id, (files: readonly Entry[]) => ({ files, dry_run: true }));

const done = ({ from, to, expected_revision: revision }: Entry, isDone = true) => ({
  from,
  to,
  success: true,
  moved: isDone,
  revision,
});
const failed = ({ from, to }: Entry, code: ErrorCode, ...says: string[]) => ({
  from,
  to,
  success: false,
  moved: false,
  error: errorWith(code, ...says),
});

const a = contentRevision("a");
const other = contentRevision("other");

const expects = (name: string, tree: Tree, entry: Entry, expected: Expected): Case =>
  batch(name, tree, [entry], expected);

const refuses = (name: string, tree: Tree, entry: Entry, error: readonly [ErrorCode, ...string[]]): Case =>
  batch(name, tree, [entry], { results: [failed(entry, ...error)], tree: {} });

const asIs: Entry = { from: "a", to: "b", expected_revision: a };
const stale: Entry = { from: "a", to: "b", expected_revision: other };
const onto: Entry = { from: "a", to: "b", expected_revision: a, overwrite: true };
const staleOnto: Entry = { from: "a", to: "b", expected_revision: other, overwrite: true };
const itself: Entry = { from: "a", to: "a", expected_revision: a };

export const cases: readonly Case[] = [
  expects("a file that is what was expected", { a: "a" }, asIs, {
    results: [done(asIs)],
    tree: { a: gone, b: "a" },
  }),
  expects("a file that is what was expected, onto another", { a: "a", b: "b" }, onto, {
    results: [done(onto)],
    tree: { a: gone, b: "a" },
  }),
  expects("a file that is what was expected, onto itself", { a: "a" }, itself, {
    results: [done(itself, false)],
    tree: {},
  }),
  refuses("a file that is not", { a: "a" }, stale, ["C221", "another revision"]),
  refuses("a file that is not, onto another", { a: "a", b: "b" }, staleOnto, ["C221"]),
  refuses("a file that is not, onto itself", { a: "a" }, { ...itself, expected_revision: other }, ["C221"]),
  refuses("a missing file has no revision", { b: "b" }, asIs, ["C211"]),
  refuses("a denied file has no revision", { ".env": "a" }, { ...asIs, from: ".env" }, ["C211"]),
  refuses("a folder", { "a/x": "a" }, asIs, ["C210", "regular file"]),
  refuses("a link", { x: "a", a: { link: "x" } }, asIs, ["C210", "regular file"]),
  refuses("no revision", { a: "a" }, { ...asIs, expected_revision: "a" }, ["C210", "expected_revision"]),
  refuses("absent", { a: "a" }, { ...asIs, expected_revision: "absent" }, ["C210", "expected_revision"]),
  refuses("in upper case", { a: "a" }, { ...asIs, expected_revision: a.toUpperCase() }, ["C210"]),
  tryBatch("tried: a file that is what was expected", { a: "a" }, [asIs], {
    results: [done(asIs)],
    tree: {},
  }),
  tryBatch("tried: a file that is not", { a: "a" }, [stale], { results: [failed(stale, "C221")], tree: {} }),
];
