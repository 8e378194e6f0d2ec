import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A search that takes minutes in a tree with `addSlowFiles`, because the regex engine has no faster way
 * through its letters.
 */
export const searchForMinutes = {
  query: "(?:\\w|[éa]){1,99}\\B[^a-zé]\\b\\d",
  regex: true,
  search_paths: false,
};

/** Adds a folder `slow` of large files, which are one file on disk. */
export function addSlowFiles(base: string): void {
  const folder = join(base, "slow");
  mkdirSync(folder);
  const first = join(folder, "0.txt");
  writeFileSync(first, `${"éa".repeat(1_000_000)}1!`);
  for (let number = 1; number < 2000; number++) linkSync(first, join(folder, `${number}.txt`));
}
