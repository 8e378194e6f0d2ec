import { gone } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith } from "../case.ts";

const id = "coder::delete-file";
const tree = { "a/b/locked": "text", "a/free": "", ln: { link: "a/b/locked" } };

const batch = batchOf(id, (paths: readonly string[]) => ({ paths, recursive: true }));

const refuses = (name: string, path: string): Case => ({
  ...batch(`protected: ${name}`, tree, [path], {
    results: [{ path, success: false, removed: false, error: errorWith("C222", "protects") }],
    tree: {},
  }),
  config: { write_deny_globs: ["**/locked"] },
});

const removes = (name: string, path: string): Case => ({
  ...batch(`protected: ${name}`, tree, [path], {
    results: [{ path, success: true, removed: true }],
    tree: { [path]: gone },
  }),
  config: { write_deny_globs: ["**/locked"] },
});

export const cases: readonly Case[] = [
  refuses("a file", "a/b/locked"),
  refuses("a folder with a protected file in it", "a"),
  removes("a file beside it", "a/free"),
  removes("a link to a protected file", "ln"),
];
