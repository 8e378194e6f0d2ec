import { batchOf, type Case, errorWith } from "../case.ts";

const id = "coder::update-file";
const ops = [{ op: "insert", at_line: 1, content: "x\n" }];
const tree = { "a/locked": "old\n", "a/free": "old\n", link: { link: "a/locked" }, "a/.env": "secret" };

const batch = batchOf(id, (paths: readonly string[]) => ({
  files: paths.map((path) => ({ path, ops })),
  answer: "none",
}));

const failed = (path: string, error: unknown) => ({
  path,
  success: false,
  applied: 0,
  new_line_count: 0,
  error,
});

const refuses = (name: string, path: string, error: unknown, globs = ["**/locked", "**/.env"]): Case => ({
  ...batch(`protected: ${name}`, tree, [path], { results: [failed(path, error)], tree: {} }),
  config: { write_deny_globs: globs },
});

const isProtected = errorWith("C222", "protects", "can be read");

export const cases: readonly Case[] = [
  refuses("a file", "a/locked", isProtected),
  refuses("a file by a link", "link", isProtected),
  refuses("everything in a folder", "a/free", isProtected, ["a/**"]),
  refuses("everything in a folder that is named itself", "a/free", isProtected, ["a"]),
  refuses("what is denied too is denied", "a/.env", errorWith("C211")),
  refuses("what is missing is missing", "b/locked", errorWith("C211")),
  {
    ...batch("protected: the other entries go on", tree, ["a/locked", "a/free"], {
      results: [
        failed("a/locked", isProtected),
        { path: "a/free", success: true, applied: 1, new_line_count: 2 },
      ],
      tree: { "a/free": "x\nold\n" },
    }),
    config: { write_deny_globs: ["**/locked"] },
  },
];
