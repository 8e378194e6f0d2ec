import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { addToTree, type Tree } from "../../tests/harness/tree.ts";
import { filesOfRipgrep, treeOfIgnoreFiles } from "./ignore/ripgrep.test-kit.ts";
import { filesOfWalk } from "./ignored.test-kit.ts";

const bases: string[] = [];

afterEach(() => {
  for (const base of bases.splice(0)) rmSync(base, { recursive: true, force: true });
});

function makeTree(tree: Tree): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  bases.push(base);
  addToTree(base, tree);
  return base;
}

describe("the same files as ripgrep", () => {
  /** Many trees beside each other take only one process of ripgrep. */
  const treesAtOnce = 20;

  test("on 500 random trees of ignore files", () => {
    const trees = fc.array(treeOfIgnoreFiles, { minLength: treesAtOnce, maxLength: treesAtOnce });
    fc.assert(
      fc.property(trees, (trees) => {
        const named = trees.flatMap((tree, i) =>
          Object.entries(tree).map(([path, entry]) => [`${i}/${path}`, entry] as const),
        );
        const base = makeTree(Object.fromEntries(named));
        expect(filesOfWalk(base)).toEqual(filesOfRipgrep(base));
        rmSync(base, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  test("from a folder inside, with the ignore files of those above it", () => {
    fc.assert(
      fc.property(treeOfIgnoreFiles, fc.nat(), (tree, pick) => {
        const folders = Object.keys(tree).map(dirname);
        const folder = folders[pick % folders.length]!;
        const base = makeTree(tree);
        expect(filesOfWalk(base, folder)).toEqual(filesOfRipgrep(base, folder));
        rmSync(base, { recursive: true });
      }),
      propertyRuns(90),
    );
  });

  const written = {
    yaml: "# built\n/bin.mjs\n*.log\ndist/*.d.ts\n!dist/i*.d.ts\n**/[Cc]ompose/\nbrowser/{dist,x}/schema/\n",
    zod: "*.cjs\n!index.cjs\n/v3/locales/\nsrc/**/tests/*\n!src/**/tests/string*\nv4/core/**\n",
    execa: "types/\n!types/\n/types/*\n!/types/arguments\nlib/**/*-sync.js\n\\!x\nREADME.md  \nlib/io/\n",
  };
  test.each(Object.entries(written))("on the package %s with an ignore file", (name, text) => {
    const base = makeTree({
      ".gitignore": text,
      "lib/.ignore": "*.js\n!m*.js\n",
      ".git/info/exclude": "LICENSE*\n",
    });
    cpSync(join(import.meta.dir, "../../node_modules", name), base, { recursive: true });
    const files = filesOfWalk(base);
    expect(files).toEqual(filesOfRipgrep(base));
    expect(files.length).toBeLessThan(filesOfRipgrep(base, ".", ["--no-ignore"]).length);
  });
});

describe("an ignore file that cannot be used counts for nothing", () => {
  const files: Tree = { a: "", b: "", "c/a": "" };
  const expected = ["a", "b", "c/a"];

  test("denied, whatever its kind", () => {
    const base = makeTree({ ...files, ".gitignore": "a\n", "c/.ignore": "a\n", ".git/info/exclude": "b\n" });
    const found = filesOfWalk(base, ".", ["**/.gitignore", "c/.ignore", ".git/**"]);
    expect(found).toEqual(expected);
    expect(filesOfWalk(base, "c", ["**/.gitignore", "c/.ignore", ".git/**"])).toEqual(["c/a"]);
  });

  test.each([".git/info/exclude", ".git/info", ".git"])("denied as %s", (denied) => {
    const base = makeTree({ ...files, ".git/info/exclude": "b\n" });
    expect(filesOfWalk(base, ".", [denied])).toContain("b");
  });

  test("a link, also one that leads to rules inside", () => {
    const base = makeTree({
      ...files,
      rules: "a\n",
      ".gitignore": { link: "rules" },
      "c/.git": { link: ".." },
      "info/exclude": "a\n",
    });
    expect(filesOfWalk(base)).toEqual([...expected, "info/exclude", "rules"]);
  });

  test("a FIFO, from which nothing is read", () => {
    const base = makeTree({ ...files, ".gitignore": { fifo: true } });
    const writer = openSync(join(base, ".gitignore"), constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(writer, "a\n");
    expect(filesOfWalk(base)).toEqual(expected);
    expect(filesOfWalk(base, "c")).toEqual(["c/a"]);
    const left = Buffer.alloc(8);
    expect(left.toString("utf8", 0, readSync(writer, left))).toBe("a\n");
    closeSync(writer);
  });

  test("a FIFO, and a folder", () => {
    const base = makeTree({ ...files, ".gitignore": { fifo: true }, "c/.ignore/x": "a\n", "c/.git": "a\n" });
    expect(filesOfWalk(base, "c")).toEqual(["c/.git", "c/.ignore/x", "c/a"]);
    expect(filesOfWalk(base)).toEqual(["a", "b", "c/.git", "c/.ignore/x", "c/a"]);
  });

  test("larger than all rules of a folder may be", () => {
    const base = makeTree({
      ...files,
      ".gitignore": `a\n${"#".repeat(128 * 1024)}\n`,
      "c/.gitignore": "b\n",
    });
    expect(filesOfWalk(base)).toEqual([".gitignore", "a", "b", "c/.gitignore", "c/a"]);
  });

  test("with too many wildcards", () => {
    const base = makeTree({
      ...files,
      ".gitignore": "*a\n".repeat(4096),
      "c/.gitignore": "*a\n".repeat(3000),
    });
    expect(filesOfWalk(base)).toEqual([".gitignore", "a", "b", "c/.gitignore"]);
  });

  test("too large together with those of the folders above it", () => {
    const half = `x\n${"#".repeat(70_000)}\n`;
    const base = makeTree({ ...files, ".gitignore": half, "c/.gitignore": `a\n${half}` });
    expect(filesOfWalk(base)).toEqual([".gitignore", ...expected.slice(0, 2), "c/.gitignore", "c/a"]);
  });
});

test("an ignored folder that is itself where the walk starts is walked, as ripgrep does", () => {
  const base = makeTree({ ".gitignore": "out/\n*.log\n", "out/a": "", "out/a.log": "" });
  expect(filesOfWalk(base)).toEqual([".gitignore"]);
  expect(filesOfWalk(base, "out")).toEqual(["out/a"]);
});
