import { batchOf, type Case, errorWith } from "../case.ts";

const id = "coder::copy";
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
      { from: entry.from, to: entry.to, success: false, copied: false, error: errorWith("C222", "protects") },
    ],
    tree: {},
  }),
  config: { write_deny_globs: globs },
});

export const cases: readonly Case[] = [
  refuses("to a protected path", { from: "b/free", to: "b/locked" }),
  refuses("onto a protected file", { from: "b/free", to: "a/locked", overwrite: true }),
  refuses("a folder to where something in it is protected", { from: "c", to: "e" }, ["e/d"]),
  refuses("into a protected folder", { from: "c/d", to: "e/f/d" }, ["e/**"]),
  refuses("a folder whose copy would hold a protected file", { from: "a", to: "x" }),
  {
    ...batch("protected: a protected file to another name", tree, [{ from: "a/locked", to: "x" }], {
      results: [{ from: "a/locked", to: "x", success: true, copied: true }],
      tree: { x: "text" },
    }),
    config: { write_deny_globs: ["**/locked"] },
  },
];
