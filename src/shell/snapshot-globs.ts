/** The globs of `snapshot`, which select the files that are held before a command starts. */
import type { FileSelection } from "../filesystem/journal/snapshot.ts";
import { GlobList, PathGlobs } from "../search/ignore/path-globs.ts";

/** Folders that are entered only if a glob names them: git's own, and those that programs fill. */
const usuallySkipped = [".git", "node_modules", "target", "dist", ".venv", "__pycache__"];

export interface SnapshotGlobs extends FileSelection {
  /** The globs that have matched no file, with the ones that are probably meant, if those are known. */
  readonly misspelt: readonly { readonly glob: string; readonly instead: string }[];
}

/**
 * Compiles globs in the dialect of `coder::search`, except that one which ends in "/" also selects the files
 * in the folder. Returns `undefined` for an empty list. Throws a `GlobError`.
 */
export function compileSnapshotGlobs(globs: readonly string[]): SnapshotGlobs | undefined {
  const paths = PathGlobs.of(new GlobList(globs.map(withFiles)), new GlobList([]));
  const skipped = new Set(usuallySkipped.filter((name) => !globs.some((glob) => glob.includes(name))));
  return (
    paths && {
      takesFile: (path, name) => paths.takesFile(path, name),
      entersFolder: (path, name) =>
        !skipped.has(name.bytes.toString("utf8", name.from, name.to)) && paths.entersFolder(path, name),
      get misspelt() {
        return paths.unmatched.flatMap(
          ({ glob, onlyFolders, instead = onlyFolders ? `${glob}/` : undefined }) =>
            instead === undefined ? [] : [{ glob, instead }],
        );
      },
    }
  );
}

function withFiles(glob: string): string {
  if (!/^[^!].*\/$/s.test(glob)) return glob;
  return glob.indexOf("/") === glob.length - 1 ? `**/${glob}**` : `${glob}**`;
}
