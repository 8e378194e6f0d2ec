import { describe, expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { functions } from "../../coder/functions.ts";
import { readMistakenPath } from "./mistaken-paths.ts";
import { requireUsual, requireUsualNames } from "./require-usual.ts";

const one = {
  home: "/home/me",
  roots: [{ prefix: "", hostPath: "/home/me/project" }],
  isAbsolute: false,
};
const several = {
  home: "/home/me",
  roots: [
    { prefix: "src/", hostPath: "/home/me/project/src" },
    { prefix: "docs/", hostPath: "/srv/docs" },
  ],
  isAbsolute: false,
};
const host = { ...one, isAbsolute: true };

describe("a path in the form of another program", () => {
  test.each([
    ["~/project/src/a.ts", one, "src/a.ts"],
    ["~/project", one, "."],
    ["~/notes.txt", one, "notes.txt"],
    ["~", one, undefined],
    ["$HOME/project/a", one, "a"],
    ["${HOME}/project/a", one, "a"],
    ["$PWD/a", one, "a"],
    ["file:///home/me/project/a%20b.txt", one, "a b.txt"],
    ["file://localhost/home/me/project/a", one, "a"],
    ["file:///etc/passwd", one, undefined],
    ["file:///home/me/project/../x", one, undefined],
    ["file:///home/me/project2/x", one, undefined],
    ["file:///%", one, undefined],
    ['"a b.txt"', one, "a b.txt"],
    ["'a'", one, "a"],
    ["`a`", one, "a"],
    ["~/project/src/a.ts", several, "src/a.ts"],
    ["~/notes.txt", several, undefined],
    ["file:///srv/docs/x", several, "docs/x"],
    ["~/project/a", host, "/home/me/project/a"],
    ["~/other", host, undefined],
    ["file:///home/me/project/a", host, "/home/me/project/a"],
  ])("%s", (path, places, instead) => {
    expect(readMistakenPath(path, places)).toMatchObject({ instead, line: undefined });
  });

  test.each([
    ["a.txt:12", "a.txt", 12],
    ["src/a.ts:12:5", "src/a.ts", 12],
    ["src/a.ts:12-20", "src/a.ts", 12],
    ["src/a.ts#L10-L20", "src/a.ts", 10],
  ])("%s", (path, instead, line) => {
    expect(readMistakenPath(path, one)).toMatchObject({ instead, line });
  });

  test.each([
    ["C:\\proj\\src\\a.ts", one, 'relative to the base folder, with "/" between names, such as "src/a.ts"'],
    ["c:/proj/a.ts", one, 'such as "proj/a.ts"'],
    ["C:\\", one, 'such as "src"'],
    ["\\\\server\\share\\a.ts", one, 'such as "share/a.ts"'],
    ["C:\\a.ts", several, 'that begins with the name of a root, with "/" between names, such as "src/a.ts"'],
    ["C:\\a.ts", host, 'an absolute path with "/" between names'],
  ])("%s is one of Windows", (path, places, form) => {
    expect(readMistakenPath(path, places)).toMatchObject({
      why: "is one of Windows",
      instead: undefined,
      form: expect.stringContaining(form),
    });
  });

  test.each([
    "C:a",
    "src\\a.ts",
    "a",
    "./a",
    "a/",
    "/home/me/project/a",
    "a~",
    "a/~/b",
    "$HOMEx",
    "a:b",
    "12:30/a",
    "a#1",
    '"a',
    "file:a",
    ":12",
  ])("%s is none", (path) => {
    expect(readMistakenPath(path, one)).toBeUndefined();
  });
});

const require = (id: string, request: object) =>
  runAtOnce(requireUsual(functions.find((definition) => definition.id === id)!, request, one));

test("longer paths than there are have no such form", () => {
  expect(readMistakenPath(`${"a".repeat(4093)}:12`, one)).toMatchObject({ line: 12 });
  expect(readMistakenPath(`${"a".repeat(4094)}:12`, one)).toBeUndefined();
});

test("very many names are checked in steps", () => {
  const names = Array.from({ length: 1000 }, (_, index) => `a${index}`);
  expect([...requireUsualNames(names, one)].length).toBeGreaterThan(30);
  const makeFolder = functions.find(({ id }) => id === "coder::make-folder")!;
  expect([...requireUsual(makeFolder, { paths: names }, one)].length).toBeGreaterThan(30);
});

describe("what would be made or written", () => {
  test.each([
    ["coder::create-file", { files: [{ path: "~/a", content: "" }] }],
    ["coder::move", { files: [{ from: "a", to: "a:12" }] }],
    ["coder::copy", { files: [{ from: "a", to: '"a"' }] }],
    ["coder::make-folder", { paths: ["a", "file:///x"] }],
    ["coder::transact", { changes: [{ op: "create", path: "~/a", content: "" }] }],
    ["coder::transact", { changes: [{ op: "move", from: "a", to: "~/a" }] }],
    ["coder::transact", { changes: [{ op: "make-folder", path: "$HOME/a" }] }],
    ["coder::create-file", { files: [{ path: "a", content: "1→one\n2→two\n" }] }],
    [
      "coder::update-file",
      { files: [{ path: "a", ops: [{ op: "insert", at_line: 1, content: "7: a\n8: b" }] }] },
    ],
    [
      "coder::update-file",
      { files: [{ path: "a", ops: [{ op: "str_replace", old_str: "a", new_str: "3→a" }] }] },
    ],
    [
      "coder::transact",
      {
        changes: [
          { op: "update", path: "a", ops: [{ op: "str_replace", old_str: "a", new_str: "L3: a\nL4: b" }] },
        ],
      },
    ],
  ])("%s %j is refused, and taken if it is literal", (id, request) => {
    expect(() => require(id, request)).toThrow('"literal": true');
    expect(() => require(id, { ...request, literal: true })).not.toThrow();
  });

  test.each([
    ["coder::move", { files: [{ from: "a:12", to: "a" }] }],
    ["coder::transact", { changes: [{ op: "delete", path: "a:12" }] }],
    ["coder::transact", { changes: [{ op: "update", path: "a:12", ops: [] }] }],
    [
      "coder::update-file",
      {
        files: [{ path: "a:12", ops: [{ op: "str_replace", old_str: "1: a\n2: b", new_str: "1: c\n2: d" }] }],
      },
    ],
    ["coder::read-file", { path: "~/a" }],
    ["coder::apply-patch", { patch: "'a'" }],
  ])("%s %j is not, as it makes no such name", (id, request) => {
    expect(() => require(id, request)).not.toThrow();
  });
});
