/**
 * Compares the files with those of ripgrep in a large real tree: this project with all its installed npm
 * packages. Each file has its name, ignore files also have their contents, and others are added in the style
 * of real projects (coder §16).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { filesOfRipgrep } from "./ignore/ripgrep.test-kit.ts";
import { filesOfWalk } from "./ignored.test-kit.ts";

const project = join(import.meta.dir, "../..");
const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const folders: string[] = [];

/** Entries that other steps of a test run change, or that do not belong to a checkout. */
const leftOut = new Set([".git", ".work", "dist"]);

/** Copies the folder: a file gets its name alone, and an ignore file also its contents. */
function imitate(path: string): void {
  folders.push(path);
  mkdirSync(join(base, path), { recursive: true });
  for (const entry of readdirSync(join(project, path), { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (leftOut.has(inside)) continue;
    if (entry.isDirectory()) imitate(inside);
    else if (/^\.(git|npm|)ignore$/.test(entry.name)) copyFileSync(join(project, inside), join(base, inside));
    else if (entry.isFile()) writeFileSync(join(base, inside), "");
  }
}

beforeAll(() => imitate("."));
afterAll(() => rmSync(base, { recursive: true }));

const everything = () => filesOfRipgrep(base, ".", ["--no-ignore"]);

test("the project, and what its own ignore files leave of it", () => {
  const files = filesOfWalk(base);
  expect(files).toEqual(filesOfRipgrep(base));
  expect(files).toContain("src/search/walk/walk.ts");
  expect(files.length).toBeLessThan(everything().length / 4);
});

test("all packages, from the folder that is ignored", () => {
  const files = filesOfWalk(base, "node_modules");
  expect(files).toEqual(filesOfRipgrep(base, "node_modules"));
  expect(files.length).toBeGreaterThan(5000);
});

/** Rules in the style of projects in several languages. */
const rules = [
  ...[
    "node_modules/",
    "/node_modules",
    "dist/",
    "dist",
    "/dist/",
    "lib/",
    "/lib/*",
    "!/lib/index.js",
    "build/",
  ],
  ...[
    "*.map",
    "*.d.ts",
    "!index.d.ts",
    "*.d.mts",
    "**/*.cjs",
    "*.min.js",
    "*.{cjs,mjs}",
    "*.[cm]js",
    "!*.json",
  ],
  ...[
    "test/",
    "tests/**",
    "**/test/**",
    "!**/test/*.js",
    "**/__tests__/",
    "/src/**",
    "!/src/**/",
    "!/src/**/*.ts",
  ],
  ...[
    "README*",
    "readme.md",
    "[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*",
    "*.md",
    "!README.md",
    "docs/**/*.md",
    "**/esm/*",
  ],
  ...[
    "__pycache__/",
    "*.py[cod]",
    "/target/",
    "*.rs.bk",
    ".env*",
    "!.env.example",
    ".idea",
    "*~",
    ".DS_Store",
  ],
  ...["@*/", "/@*/*/dist", "@types/*", "!@types/node", "*/package.json", "**/v4/**", "v?/", "core/**/*.js"],
  ...[
    "# a comment",
    "",
    "  ",
    "types/ ",
    "types\\ ",
    "\\#x",
    "*",
    "!*/",
    "!*.ts",
    "**/internal",
    "a/**/b",
    "/.*",
  ],
];

const ignoreFile = fc.record({
  folder: fc.nat(),
  file: fc.constantFrom(".gitignore", ".gitignore", ".ignore", ".rgignore"),
  lines: fc.array(fc.constantFrom(...rules), { minLength: 1, maxLength: 8 }),
  ending: fc.constantFrom("\n", "\n", "\r\n"),
});

test("with ignore files in the packages, those of several levels together", () => {
  const nearTop = folders.filter(
    (folder) => folder.startsWith("node_modules") && folder.split("/").length < 4,
  );
  fc.assert(
    fc.property(fc.array(ignoreFile, { minLength: 5, maxLength: 60 }), (files) => {
      const added = files.flatMap(({ folder, file, lines, ending }) => {
        const path = join(base, nearTop[folder % nearTop.length]!, file);
        if (readdirSync(dirname(path)).includes(file)) return [];
        writeFileSync(path, lines.join(ending));
        return [path];
      });
      try {
        expect(filesOfWalk(base, "node_modules")).toEqual(filesOfRipgrep(base, "node_modules"));
      } finally {
        for (const path of added) rmSync(path);
      }
    }),
    propertyRuns(6),
  );
}, 120_000);
