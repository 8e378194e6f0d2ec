import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { takeBatch } from "../batches/batches.ts";
import { IgnoreFiles } from "../ignore/ignore-files.ts";
import { ListingCache } from "./listing-cache.ts";
import { SharedFolder } from "./shared-folder.ts";
import { Walk } from "./walk.ts";

const folders = ["", "a/", "a/b/", "c/", "c/d/"];
const names = ["f", "g", ".gitignore", "b", "d"];
const path = fc.tuple(fc.constantFrom(...folders), fc.constantFrom(...names)).map((parts) => parts.join(""));
const kinds = ["write", "mkdir", "symlink", "remove", "rename"] as const;
const change = fc.record({ kind: fc.constantFrom(...kinds), path, other: path });
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(fixture: JailFixture, { kind, path, other }: Change): void {
  try {
    if (kind === "write") writeFileSync(fixture.at(path), path.endsWith(".gitignore") ? "g\n" : "text");
    else if (kind === "mkdir") mkdirSync(fixture.at(path));
    else if (kind === "symlink") symlinkSync(other, fixture.at(path));
    else if (kind === "remove") rmSync(fixture.at(path), { recursive: true });
    else renameSync(fixture.at(path), fixture.at(other));
  } catch {
    // The current tree does not allow the change.
  }
}

/** Returns the paths of all files that a walk finds. */
function pathsBy(
  jail: Jail,
  listings: ListingCache | undefined,
  ignoreFiles: IgnoreFiles | undefined,
): string[] {
  const start = new SharedFolder(jail.admitFolder("."));
  const none = { include: undefined, exclude: undefined, onTooDeep() {} };
  const walk = new Walk(start, { ...none, jail, files: { sweepFolder: () => 0 }, listings, ignoreFiles });
  const paths: string[] = [];
  for (
    let batch = takeBatch(walk, { files: 64, folders: 8 });
    batch !== undefined;
    batch = takeBatch(walk, { files: 64, folders: 8 })
  ) {
    for (let index = 0; index < batch.count; index++) paths.push(batch.pathOf(index));
    batch.release();
  }
  walk.close();
  start.release();
  return paths;
}

/** Waits until all recent changes of folders are old enough for listings to be kept. */
async function settled(fixture: JailFixture): Promise<void> {
  const changedAt = (folder: string): number => {
    try {
      return statSync(fixture.at(folder)).ctimeMs;
    } catch {
      return 0;
    }
  };
  while (Date.now() - Math.max(...folders.map(changedAt)) < 120)
    await new Promise((resolve) => setImmediate(resolve));
}

test("a walk that knows what folders held meets what one meets that lists them, after each change", async () => {
  const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 });
  let kept = 0;
  const isSame = async (rounds: readonly (readonly Change[])[]): Promise<void> => {
    using fixture = new JailFixture({ "a/b/f": "", "c/d/f": "", ".gitignore": "b\n" });
    const jail = fixture.jail("openat");
    const listings = new ListingCache(2 ** 20);
    const ignoreFiles = new IgnoreFiles(jail);
    const compare = () => {
      for (const rules of [undefined, ignoreFiles])
        expect(pathsBy(jail, listings, rules)).toEqual(pathsBy(jail, undefined, rules));
    };
    for (const changes of rounds) {
      await settled(fixture);
      compare();
      compare();
      for (const one of changes) {
        apply(fixture, one);
        compare();
      }
    }
    kept += listings.bytes;
  };
  await fc.assert(fc.asyncProperty(rounds, isSame), propertyRuns(12));
  expect(kept).toBeGreaterThan(0);
});
