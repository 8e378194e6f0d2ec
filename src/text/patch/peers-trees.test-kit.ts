/** Random trees, changed trees, and trees that have drifted. */
import type { Random } from "../../../tests/harness/random.ts";
import type { TestTree } from "./patch.test-kit.ts";

const names = [
  "f",
  "g.txt",
  "dir/a.c",
  "dir/b.c",
  "dir/deep/x.py",
  "other/y",
  "a b",
  "ü.txt",
  'quo"te',
  "tab\there",
  "back\\slash",
  "a/b/list",
];

const commonLines = [
  "",
  "",
  "{",
  "}",
  "  run()",
  "  done()",
  "\treturn 0;",
  "end",
  "x",
  "-- x",
  "++ x",
  "# note",
  "\\ odd",
];

type Lines = string[];

/** The line ends of a file, and its share of lines that repeat. */
interface Style {
  readonly ending: "\n" | "\r\n";
  /** The share of lines that occur many times. */
  readonly common: number;
}

let serial = 0;

const lineOf = (random: Random, { common }: Style): string =>
  random.chance(common) ? random.pick(commonLines) : `${" ".repeat(2 * random.below(3))}line ${++serial}`;

function linesOf(random: Random, count: number, style: Style): Lines {
  return Array.from({ length: count }, () => lineOf(random, style));
}

const styleOf = (random: Random): Style => ({
  ending: random.chance(0.08) ? "\r\n" : "\n",
  common: random.pick([0.1, 0.5, 0.9]),
});

function bodyOf(random: Random, lines: Lines, { ending }: Style): Buffer {
  const text = lines.join(ending);
  const isOpen = random.chance(0.08);
  return Buffer.from(lines.length === 0 || isOpen ? text : text + ending);
}

/** Returns a tree of one to four files. */
export function oldTree(random: Random): TestTree {
  const tree: TestTree = new Map();
  for (let left = 1 + random.below(4); left > 0; left--) {
    const style = styleOf(random);
    const body = bodyOf(
      random,
      linesOf(random, random.chance(0.05) ? 0 : 1 + random.below(40), style),
      style,
    );
    put(tree, random.pick(names), body, random.chance(0.1) ? 0o755 : 0o644);
  }
  return tree;
}

/** Adds a file, unless another has its path as a folder or lies in it. */
function put(tree: TestTree, path: string, body: Buffer, mode: number): boolean {
  for (const other of tree.keys())
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) return false;
  tree.set(path, { body, mode });
  return true;
}

const styleIn = (body: Buffer, common: number): Style => ({
  ending: body.includes("\r\n") ? "\r\n" : "\n",
  common,
});

/** Changes some runs of lines. */
function edited(random: Random, body: Buffer, most = 4): Buffer {
  const style = styleIn(body, random.pick([0.1, 0.7]));
  const text = body.toString();
  const isOpen = text !== "" && !text.endsWith("\n");
  const lines = text.split(style.ending);
  if (!isOpen) lines.pop();
  for (let left = 1 + random.below(most); left > 0; left--) {
    const at = random.below(lines.length + 1);
    const removed = random.chance(0.6) ? random.below(4) : 0;
    lines.splice(at, removed, ...linesOf(random, random.chance(0.7) ? random.below(4) : 0, style));
  }
  const isOpenNow = random.chance(0.05) ? !isOpen : isOpen;
  return Buffer.from(
    lines.length === 0 || isOpenNow ? lines.join(style.ending) : lines.join(style.ending) + style.ending,
  );
}

/** Returns the tree with some files changed, moved, copied, removed, rewritten, exchanged or new. */
export function newTree(random: Random, before: TestTree): TestTree {
  const tree: TestTree = new Map(before);
  for (let left = 1 + random.below(3); left > 0; left--) changeOne(random, tree);
  return tree;
}

function changeOne(random: Random, tree: TestTree): void {
  const paths = [...tree.keys()];
  if (paths.length === 0) return;
  const path = random.pick(paths);
  const { body, mode } = tree.get(path)!;
  const kind = random.below(100);
  const maybeEdited = () => (random.chance(0.5) ? edited(random, body, 2) : body);
  if (kind < 55) tree.set(path, { body: edited(random, body), mode });
  else if (kind < 62) tree.delete(path);
  else if (kind < 70) {
    const style = styleOf(random);
    put(
      tree,
      random.pick(names),
      bodyOf(random, linesOf(random, random.below(9), style), style),
      random.chance(0.2) ? 0o755 : 0o644,
    );
  } else if (kind < 78) {
    tree.delete(path);
    if (!put(tree, random.pick(names), maybeEdited(), mode)) tree.set(path, { body, mode });
  } else if (kind < 84) {
    const to = random.pick(names);
    if (to !== path) put(tree, to, maybeEdited(), mode);
  } else if (kind < 88) {
    const style = styleOf(random);
    tree.set(path, { body: bodyOf(random, linesOf(random, 20, style), style), mode });
  } else if (kind < 92) {
    const other = random.pick(paths);
    tree.set(path, { ...tree.get(other)! });
    tree.set(other, { body: maybeEdited(), mode });
  } else if (kind < 95) {
    tree.delete(path);
    tree.set(`${path}/inner`, { body: maybeEdited(), mode });
  } else if (kind < 98) tree.set(path, { body, mode: mode ^ 0o111 });
  else tree.set(path, { body: Buffer.alloc(0), mode });
}

/** Returns the tree after changes that the patch does not know of. */
export function driftedTree(random: Random, tree: TestTree): TestTree {
  return new Map(
    [...tree].map(([path, { body, mode }]) => {
      const style = styleIn(body, 0.7);
      const more = (most: number) =>
        linesOf(random, random.below(most), style)
          .map((line) => line + style.ending)
          .join("");
      const isWhole = body.length === 0 || body.at(-1) === 0x0a;
      const text = body.toString();
      const kind = random.below(10);
      if (kind < 3) return [path, { body: Buffer.from(more(12) + text), mode }];
      if (kind < 5 && isWhole) return [path, { body: Buffer.from(text + more(12)), mode }];
      if (kind < 6 && isWhole) return [path, { body: Buffer.from(text + text), mode }];
      if (kind < 9) return [path, { body: edited(random, body, 2), mode }];
      return [path, { body, mode }];
    }),
  );
}
