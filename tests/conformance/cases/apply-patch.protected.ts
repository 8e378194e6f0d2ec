import { type Case, failure } from "../case.ts";

const id = "coder::apply-patch";

const refuses = (name: string, ...lines: readonly string[]): Case => ({
  name: `protected: ${name}`,
  config: { write_deny_globs: ["**/locked"] },
  tree: { "a/locked": "text\n", b: "b\n" },
  call: {
    function: id,
    payload: { patch: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") },
  },
  expect: { error: failure("C222", "protects"), tree: {} },
});

export const cases: readonly Case[] = [
  refuses("a file is added", "*** Add File: c/locked", "+x"),
  refuses(
    "a file is changed",
    "*** Update File: b",
    "@@",
    "-b",
    "+c",
    "*** Update File: a/locked",
    "@@",
    "-text",
    "+x",
  ),
  refuses("a file is deleted", "*** Delete File: a/locked"),
  refuses("a file is moved to it", "*** Update File: b", "*** Move to: locked", "@@", "-b", "+c"),
];
