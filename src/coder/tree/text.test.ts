import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { wordingFor } from "../../calls/contract/wording.ts";
import { renderTree } from "./text.ts";

const wording = wordingFor((id) => id.replace(/\W+/g, "_"));
const folder = (name: string, rest: object = {}) =>
  ({ name, kind: "dir", non_accessible: false, ...rest }) as const;
const file = (name: string) => ({ name, kind: "file", non_accessible: false }) as const;
const shown = (root: Parameters<typeof renderTree>[0], omitted = 0): string =>
  runAtOnce(renderTree(root, omitted, wording));
const cut = (reason: string, shown = 0, total?: number) => ({ truncated: { reason, shown, total } });

test("a tree that is whole says nothing more", () => {
  const root = folder("base", {
    children: [folder("a", { children: [file("b")] }), folder("c", { children: [] })],
  });
  expect(shown(root)).toBe("base/\n  a/\n    b\n  c/");
  expect(shown(folder("base", { children: [] }), 2)).toBe(
    "base/\n[2 left out by respect_gitignore, use_default_excludes or include_hidden]",
  );
});

test("what is left out is marked where it would be, and explained once", () => {
  const root = folder("base", {
    children: [
      folder("a", cut("max_depth")),
      folder("b", cut("max_depth")),
      folder("c", { children: [file("x"), file("y")], ...cut("per_folder_limit", 2, 9) }),
      folder("node_modules", cut("default_excludes")),
      folder("z", cut("io_error")),
    ],
  });
  expect(shown(root).split("\n")).toEqual([
    "base/",
    "  a/ …",
    "  b/ …",
    "  c/",
    "    x",
    "    y",
    "    … 2 of 9",
    "  node_modules/ [excluded]",
    "  z/ [unreadable]",
    "[… is not opened: send a larger max_depth, or that folder as path]",
    "[… n of m: the other entries are left out; page through that folder with coder_list_folder]",
    "[excluded: send use_default_excludes false, or that folder as path]",
    "[unreadable: the operating system does not let coder open that folder]",
  ]);
});

test("a folder at the maximum depth is opened by its path alone", () => {
  let node: Parameters<typeof renderTree>[0] = folder("last", cut("max_depth"));
  for (let depth = 59; depth >= 0; depth--) node = folder(`${depth}`, { children: [node] });
  expect(shown(node).split("\n").slice(-2)).toEqual([
    `${"  ".repeat(60)}last/ …`,
    "[… at depth 60 is not opened, since max_depth is at most 60: send that folder as path]",
  ]);
});

test("of nodes that were too many", () => {
  const root = folder("base", {
    children: [file("x"), folder("y", cut("max_nodes"))],
    ...cut("max_nodes", 2, 5),
  });
  expect(shown(root).split("\n")).toEqual([
    "base/",
    "  x",
    "  y/ …",
    "  … 2 of 5",
    "[… is left out: send a larger max_nodes, or that folder as path]",
  ]);
});
