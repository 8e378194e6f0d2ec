/**
 * For tests that compare with ripgrep: random trees of ignore files, and the files that ripgrep and a walk
 * find there.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { arch, platform } from "node:process";
import fc from "fast-check";
import type { Tree } from "../../../tests/harness/tree.ts";

/** The program of ripgrep, in the version of package-lock.json. */
export const ripgrep = new URL(
  `../../../node_modules/@vscode/ripgrep-${platform}-${arch}/bin/rg`,
  import.meta.url,
).pathname;

/** The flags that make ripgrep list the files that a search with `respect_gitignore` reads (coder §16). */
const sameRules = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-global"];

/**
 * Returns the paths of the files that ripgrep lists below `path`, in the order of their bytes, one character
 * per byte.
 */
export function filesOfRipgrep(base: string, path = ".", flags: readonly string[] = []): string[] {
  const parents = path === "." ? ["--no-ignore-parent"] : [];
  const given = [
    "--files",
    "--null",
    "--no-messages",
    ...sameRules,
    ...parents,
    ...flags,
    "--",
    path === "." ? "." : `./${path}`,
  ];
  const { stdout, error } = spawnSync(ripgrep, given, { cwd: realpathSync(base), maxBuffer: 1 << 28 });
  if (error !== undefined) throw error;
  const paths = stdout.toString("latin1").split("\0").slice(0, -1);
  return paths.map((found) => found.replace(/^\.\//, "")).sort();
}

const plain = ["a", "b", "ab", "abc", "a.b", "b.a", ".a", "c"];
const odd = [
  "a.",
  "#a",
  "!a",
  " a",
  "a b",
  "[a]",
  "{a,b}",
  "a*",
  "a?b",
  "\\a",
  "é",
  "aé",
  "-",
  "]",
  "A",
  "😀",
  "a,b",
  "^a",
];
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...plain) },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
);

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", ".", "ab") },
  { weight: 4, arbitrary: fc.constantFrom("*", "?", "**", "/", "*.") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "[ab]",
      "[!a]",
      "[^b]",
      "[a-c]",
      "[]a]",
      "[!]a]",
      "[a-]",
      "[.-a]",
      "[é]",
      "[à-é]",
      "[!/]",
      "[c-a]",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\\a",
      "\\*",
      "\\?",
      "\\[",
      "\\\\",
      "\\ ",
      "\\",
      "\\!",
      "\\#",
      "\\{",
      "\\,",
      "\\/",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "[",
      "]",
      "!",
      "#",
      " ",
      "{",
      "}",
      ",",
      "{a,b}",
      "{,a}",
      "{a*,**/b}",
      "{a,{b,c}}",
      "{}",
      "-",
      "^",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("é", "😀", "A", "\t", "\u00a0", "\ufeff", "\u0085") },
);

/**
 * Generates globs for a line of an ignore file, without the characters that may precede and follow a glob.
 */
export const globOfIgnoreFile = fc.oneof(
  { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join("")) },
  { weight: 2, arbitrary: fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/")) },
  { weight: 2, arbitrary: fc.tuple(name, name).map(([one, other]) => `${one}/**/${other}`) },
  { weight: 1, arbitrary: name.map((folder) => `${folder}/**`) },
  { weight: 1, arbitrary: name.map((file) => `**/${file}`) },
);

const line = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant("") },
      fc.constantFrom("!", "!", "/", "!/", "#", "\\!", "\\#", " ", "**/"),
    ),
    globOfIgnoreFile,
    fc.oneof(
      { weight: 5, arbitrary: fc.constant("") },
      fc.constantFrom("/", "/", " ", "  \t", "\\ ", "/**", "/*", "\r", "//"),
    ),
  )
  .map((parts) => parts.join(""));

const fileText = fc
  .record({
    bom: fc.oneof({ weight: 5, arbitrary: fc.constant("") }, fc.constantFrom("\ufeff", "\ufeff\ufeff")),
    lines: fc.array(
      fc.oneof(
        { weight: 12, arbitrary: line },
        fc.constantFrom("", " ", "!", "/", "!/", "*", "!*/", "**", "\\"),
      ),
      { minLength: 1, maxLength: 6 },
    ),
    ending: fc.oneof({ weight: 4, arbitrary: fc.constant("\n") }, fc.constantFrom("\r\n")),
    last: fc.boolean(),
  })
  .map(({ bom, lines, ending, last }) => bom + lines.join(ending) + (last ? ending : ""));

const ignoreFile = fc.oneof(
  { weight: 6, arbitrary: fc.constant(".gitignore") },
  { weight: 2, arbitrary: fc.constantFrom(".ignore", ".rgignore", ".git/info/exclude") },
);

export const pathInTree = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const folder = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => `${names.join("/")}/`),
);

/**
 * Generates trees of files and ignore files. A path is left out if it needs a folder where another one has a
 * file.
 */
export const treeOfIgnoreFiles: fc.Arbitrary<Tree> = fc
  .record({
    files: fc.array(pathInTree, { minLength: 1, maxLength: 25 }),
    ignoring: fc.array(fc.tuple(folder, ignoreFile, fileText), { minLength: 1, maxLength: 4 }),
  })
  .map(({ files, ignoring }) => {
    const tree: Record<string, string> = {};
    for (const [above, file, text] of ignoring) if (fits(tree, above + file)) tree[above + file] = text;
    for (const file of files) if (fits(tree, file)) tree[file] = "";
    return tree;
  });

const fits = (tree: Tree, path: string): boolean =>
  Object.keys(tree).every((other) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`));
