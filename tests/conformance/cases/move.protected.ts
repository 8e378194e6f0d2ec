import { gone } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith } from "../case.ts";

const id = "coder::move";
const tree = { "a/locked": "text", "b/free": "", "c/d": "" };

interface Entry {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
}

const batch = batchOf(id, (files: readonly Entry[]) => ({ files }));

const refuses = (name: string, entry: Entry, globs = ["**/locked"]): Case => ({
  ...batch(`protected: ${name}`, tree, [entry], {
    results: [
      { from: entry.from, to: entry.to, success: false, moved: false, error: errorWith("C222", "protects") },
    ],
    tree: {},
  }),
  config: { write_deny_globs: globs },
});

export const cases: readonly Case[] = [
  refuses("a protected file", { from: "a/locked", to: "x" }),
  refuses("a folder with a protected file in it", { from: "a", to: "x" }),
  refuses("to a protected path", { from: "b/free", to: "b/locked" }),
  refuses("onto a protected file", { from: "b/free", to: "a/locked", overwrite: true }),
  refuses("a folder to where something in it is protected", { from: "c", to: "e" }, ["e/d"]),
  refuses("into a protected folder", { from: "c/d", to: "e/f/d" }, ["e/**"]),
  {
    ...batch("protected: a folder beside it", tree, [{ from: "c", to: "a/c" }], {
      results: [{ from: "c", to: "a/c", success: true, moved: true }],
      tree: { "c/": gone, "c/d": gone, "a/c/d": "" },
    }),
    config: { write_deny_globs: ["**/locked"] },
  },
];
