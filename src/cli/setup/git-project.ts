import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Returns the folder under which Claude Code keeps the settings of `folder`: the root of the main work tree
 * of its git repository, or itself if it is in none.
 */
export function claudeProject(folder: string): string {
  for (let above = folder; ; above = dirname(above)) {
    const main = mainWorkTree(above);
    if (main !== undefined) return main;
    if (dirname(above) === above) return folder;
  }
}

function mainWorkTree(folder: string): string | undefined {
  const git = resolve(folder, ".git");
  const stats = statSync(git, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return folder;
  // A linked work tree has a file that names a folder in the repository, which names the repository.
  const [, named] = /^gitdir: (.+)$/m.exec(readFileSync(git, "utf8")) ?? [];
  if (named === undefined) return undefined;
  const own = resolve(folder, named);
  const common = readIfThere(resolve(own, "commondir"));
  return common === undefined ? folder : dirname(resolve(own, common.trim()));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
