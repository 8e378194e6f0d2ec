/**
 * The changes that were found while a command ran. Changes by other programs at that time are included,
 * because nothing distinguishes them.
 */
import type { Cause, FoundChange } from "./change.ts";

/** The numbers of distinct changed paths in the tree. */
export interface ChangeSummary {
  readonly files: number;
  /** Folders that were made, moved or deleted as a whole, each with everything in it. */
  readonly folders: number;
  /** Files and folders in `.git`. */
  readonly git: number;
  /** Whether there may have been more. */
  readonly isIncomplete: boolean;
  /** Whether a denied path was changed, which the numbers leave out. */
  readonly hasDenied: boolean;
}

/** Maximum number of distinct paths that are counted. */
const maxPaths = 100_000;

export class CommandChanges {
  readonly cause: Cause;
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #git = new Set<string>();
  #isIncomplete = false;
  #hasDenied = false;

  constructor(cause: Cause) {
    this.cause = cause;
  }

  note({ path, kind, isFolder, isGap = false }: FoundChange): void {
    const isGit = /(?:^|\/)\.git(?:\/|$)/.test(path);
    const paths = isGit ? this.#git : isFolder ? this.#folders : this.#files;
    if ((isGap && kind === "modified") || paths.size >= maxPaths) this.#isIncomplete = true;
    else paths.add(path);
  }

  noteDenied(): void {
    this.#hasDenied = true;
  }

  /** Counts the changed files that are not among these. */
  filesBeside(paths: ReadonlySet<string>): number {
    return [...this.#files].filter((path) => !paths.has(path)).length;
  }

  summarize(): ChangeSummary {
    return {
      files: this.#files.size,
      folders: this.#folders.size,
      git: this.#git.size,
      isIncomplete: this.#isIncomplete,
      hasDenied: this.#hasDenied,
    };
  }
}

/** Renders a summary, such as `3 files, .git 11`. Returns `undefined` if nothing has changed. */
export function renderChanges({
  files,
  folders,
  git,
  isIncomplete,
}: Omit<ChangeSummary, "hasDenied">): string | undefined {
  const counted = (count: number, noun: string) =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`];
  const parts = [
    ...counted(files, "file"),
    ...counted(folders, "whole folder"),
    ...(git === 0 ? [] : [`.git ${git}`]),
    ...(isIncomplete ? ["and more than is known"] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}
