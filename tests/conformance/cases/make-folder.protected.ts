import { type Case, errorWith } from "../case.ts";

const id = "coder::make-folder";

export const cases: readonly Case[] = [
  {
    name: "protected: a folder that is not there, and one on the way",
    config: { write_deny_globs: ["a/**"] },
    tree: { "b/": null },
    call: { function: id, payload: { paths: ["a/b", "b/a/c"] } },
    expect: {
      answer: {
        results: [
          { path: "a/b", success: false, created: false, error: errorWith("C222", "protects") },
          { path: "b/a/c", success: true, created: true },
        ],
      },
      tree: { "b/a/c/": null },
    },
  },
];
