/** For tests of ignore files: the files that a walk finds below a folder on disk. */

import { openJail } from "../filesystem/jail/jail.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { Batch } from "./batches/batches.ts";
import { IgnoreFiles } from "./ignore/ignore-files.ts";
import { SharedFolder } from "./walk/shared-folder.ts";
import { Walk } from "./walk/walk.ts";

/** Returns the paths of the files that a walk from `path` finds with ignore files, like `filesOfRipgrep`. */
export function filesOfWalk(base: string, path = ".", deny: readonly string[] = []): string[] {
  const jail = openJail({ basePath: base, deny: compileGlobSet(deny) });
  const start = new SharedFolder(jail.admitFolder(path));
  const walk = new Walk(start, {
    jail,
    files: { sweepFolder: () => 0 },
    include: undefined,
    exclude: undefined,
    ignoreFiles: new IgnoreFiles(jail),
    onTooDeep() {},
  });
  start.release();
  const batch = new Batch({ files: 1_000_000, folders: 10_000 }, { folders: 0 });
  while (walk.fill(batch));
  const paths = Array.from({ length: batch.files.count }, (_, index) => batch.pathOf(index));
  batch.release();
  walk.close();
  jail.close();
  return paths.map((found) => Buffer.from(found).toString("latin1")).sort();
}
