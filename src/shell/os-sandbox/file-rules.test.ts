/** Compares the combined effect of mounts and rules with a definition that checks every file. */
import { afterAll, expect, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { planCovers } from "./covers.ts";
import { readDenied } from "./denied.ts";
import { grantAround, isWithin, ungrantedAt } from "./grants.ts";
import { writeAccess } from "./landlock.ts";

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const scene = fc.record({
  files: fc.uniqueArray(path, { minLength: 2, maxLength: 10 }),
  denied: fc.array(path, { maxLength: 3 }),
  // The indexes of a file that gets another name, and of one that gets a link.
  linked: fc.option(fc.nat({ max: 9 })),
  pointed: fc.option(fc.nat({ max: 9 })),
  isLinkDenied: fc.boolean(),
});
type Scene = typeof scene extends fc.Arbitrary<infer Value> ? Value : never;

/** Makes the tree. Returns its root and the denied paths. */
function build({ files: paths, denied, linked, pointed, isLinkDenied }: Scene) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  trees.push(root);
  const files = paths.filter((file) => !paths.some((other) => other.startsWith(`${file}/`)));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  mkdirSync(join(root, "more"));
  const chosen = (index: number | null) => (index === null ? undefined : files[index % files.length]);
  const [one, two] = [chosen(linked), chosen(pointed)];
  if (one !== undefined) linkSync(join(root, one), join(root, "more/other-name"));
  if (two !== undefined) symlinkSync(join(root, two), join(root, "more/link"));
  return {
    root,
    denied: [...denied, ...(isLinkDenied ? ["more/link"] : [])].map((file) => join(root, file)),
  };
}

/** Returns the files and folders below a folder, without links. */
const list = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(folder, entry.name))
    .flatMap((entry) => (statSync(entry).isDirectory() ? [entry, ...list(entry)] : [entry]));

/**
 * Returns whether the definition denies an entry: the target of a denied path, an entry below one, or any
 * name of a denied file.
 */
function isDenied(entry: string, root: string, denied: readonly string[]): boolean {
  const there = denied.flatMap((one) => {
    try {
      return [realpathSync(one)];
    } catch {
      return [];
    }
  });
  if (there.some((one) => isWithin(entry, one))) return true;
  const files = there.filter((one) => isWithin(one, root) && statSync(one).isFile());
  return files.some((one) => statSync(one).ino === statSync(entry).ino);
}

function canWrite(entry: string, denied: ReadonlySet<string>, root: string): boolean {
  const ungranted = runAtOnce(ungrantedAt(denied));
  return [...grantAround(root, { access: writeAccess, ungranted, split: new Map() })]
    .flat()
    .some((grant) => grant.access === writeAccess && isWithin(entry, grant.path));
}

test("by rules, and by mounts, commands reach what is not denied and nothing else", () => {
  fc.assert(
    fc.property(scene, (given) => {
      const { root, denied: paths } = build(given);
      const denied = readDenied(paths, [root]);
      const { covers, rest } = runAtOnce(
        planCovers(denied, {
          writable: [root],
          readOnly: [],
          kept: [],
          maskOf: () => "/mask",
          stashOf: () => "/stash",
        }),
      );
      const hidden = covers.filter(({ kind }) => kind !== "pinned");
      for (const entry of list(root)) {
        const refused = isDenied(entry, root, paths);
        const isAbove = [...denied.paths].some((one) => isWithin(one, entry));
        // With rules alone, entries cannot be created in a folder above a denied entry. With mounts, they can
        // be created in every folder.
        expect([entry, canWrite(entry, denied.paths, root)]).toEqual([entry, !refused && !isAbove]);
        expect([entry, hidden.some((cover) => isWithin(entry, cover.path))]).toEqual([entry, refused]);
        expect(canWrite(entry, rest, root)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});
