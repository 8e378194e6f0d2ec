import { mtime } from "../../harness/tree.ts";
import type { Case } from "../case.ts";

export const cases: readonly Case[] = [
  {
    name: "protected: what no call may change is read",
    config: { write_deny_globs: ["**/locked"] },
    tree: { "a/locked": "text\n" },
    call: { function: "coder::read-file", payload: { path: "a/locked" } },
    expect: {
      answer: {
        content: "text\n",
        is_utf8: true,
        mode: 0o644,
        mtime,
        path: "a/locked",
        size: 5,
      },
      tree: {},
    },
  },
];
