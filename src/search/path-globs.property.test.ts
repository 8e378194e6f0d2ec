/**
 * The globs of the profile agent select the files that ripgrep's `-g` selects, and those that its ignore
 * files leave.
 */
import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { addToTree, type Tree } from "../../tests/harness/tree.ts";
import { GlobError } from "../text/globs/glob-set.ts";
import { GlobList, PathGlobs } from "./ignore/path-globs.ts";
import { filesOfRipgrep, globOfIgnoreFile, pathInTree, ripgrep } from "./ignore/ripgrep.test-kit.ts";
import { openSearcher } from "./search.test-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const base = join(folder, "base");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns whether a glob is blank. It has no meaning here, and in ripgrep matches no file if negated. */
const isBlank = (text: string) => /^\p{White_Space}*$/u.test(text);

const glob = fc
  .tuple(
    fc.oneof({ weight: 6, arbitrary: fc.constant("") }, fc.constantFrom("/", "**/", "./", "#", "\\#", "\\!")),
    globOfIgnoreFile,
    fc.oneof({ weight: 6, arbitrary: fc.constant("") }, fc.constantFrom("/", "/**", "/*", " ", "//")),
  )
  .map((parts) => parts.join(""))
  .filter((one) => !isBlank(one));
const negatable = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: fc.constant("") }, fc.constant("!")), glob)
  .map((parts) => parts.join(""));

interface Selected {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

const selections: fc.Arbitrary<Selected> = fc.oneof(
  fc.record({
    include: fc.array(negatable, { minLength: 1, maxLength: 3 }),
    exclude: fc.array(
      glob.filter((one) => !one.startsWith("!")),
      { maxLength: 2 },
    ),
  }),
  fc.record({ include: fc.constant([]), exclude: fc.array(negatable, { minLength: 1, maxLength: 4 }) }),
);

/** Trees of files. A path that needs a folder where another one has a file is left out. */
const trees: fc.Arbitrary<Tree> = fc.array(pathInTree, { minLength: 1, maxLength: 25 }).map((paths) => {
  const tree: Record<string, string> = {};
  const fits = (path: string) =>
    Object.keys(tree).every((other) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`));
  for (const path of paths) if (fits(path)) tree[path] = "";
  return tree;
});

/** Returns the glob for ripgrep, which does not accept "./" before a glob, and takes "#" for a comment. */
const spelled = (one: string): string => one.replace(/^(!?)\.\//, "$1/").replace(/^#/, "\\#");

/** Returns the files that ripgrep selects: by `-g`, or by an ignore file if globs take back exclusions. */
function takenByRipgrep({ include, exclude }: Selected): string[] {
  const flags = ["--no-ignore"];
  if (exclude.some((one) => one.startsWith("!"))) {
    const file = join(folder, "ignore");
    // At the start of a file ripgrep would take U+FEFF for a byte order mark.
    writeFileSync(file, exclude.map((one) => `\n${spelled(one)}`).join(""));
    return filesOfRipgrep(base, ".", [...flags, "--ignore-file", file]);
  }
  const globs = [...include.map(spelled), ...exclude.map((one) => `!${spelled(one)}`)];
  return filesOfRipgrep(base, ".", [...flags, ...globs.map((one) => `--glob=${one}`)]);
}

function refusesGlob(one: string): boolean {
  try {
    new GlobList([one]);
    return false;
  } catch (error) {
    if (error instanceof GlobError) return true;
    throw error;
  }
}

const runs = propertyRuns(180);

test("the files are those of ripgrep", async () => {
  let partial = 0;
  rmSync(base, { recursive: true, force: true });
  await fc.assert(
    fc.asyncProperty(trees, selections, async (tree, selected) => {
      fc.pre(![...selected.include, ...selected.exclude].some(refusesGlob));
      // ripgrep would ignore such an ignore file.
      fc.pre(!selected.exclude[0]?.startsWith("!"));
      addToTree(folder, { "base/": null });
      addToTree(base, tree);
      const globs = PathGlobs.of(new GlobList(selected.include), new GlobList(selected.exclude));
      const searcher = openSearcher(base, { backend: "openat", threads: false });
      try {
        const { path_matches } = await searcher.search({ content: false, globs });
        const found = path_matches.map(({ path }) => Buffer.from(path).toString("latin1")).sort();
        expect(found).toEqual(takenByRipgrep(selected));
        const all = filesOfRipgrep(base, ".", ["--no-ignore"]);
        if (found.length > 0 && found.length < all.length) partial++;
        const one = all.map((path) => Buffer.from(path, "latin1").toString());
        expect(
          one
            .filter((path) => globs?.takes(path, false) ?? true)
            .map((path) => Buffer.from(path).toString("latin1")),
        ).toEqual(found);
      } finally {
        await searcher.close();
        rmSync(base, { recursive: true, force: true });
      }
    }),
    runs,
  );
  expect(partial).toBeGreaterThan(0);
}, 300_000);

test("ripgrep refuses the globs that are refused here", () => {
  fc.assert(
    fc.property(globOfIgnoreFile, (one) => {
      fc.pre(!isBlank(one) && one !== "!");
      const { status } = spawnSync(ripgrep, ["--no-config", "--files", `--glob=${spelled(one)}`, folder]);
      expect(refusesGlob(one)).toBe(status === 2);
    }),
    runs,
  );
}, 300_000);
