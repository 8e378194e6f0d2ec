/** Holds the folder that programs run in, so that no other can replace it. */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { StartFailure } from "./start-failure.ts";

export interface WorkingFolder {
  /**
   * Returns a path of the folder for this process and for programs that it starts. On Linux the path names
   * the descriptor, so the folder may be renamed. Throws a `StartFailure` if the folder is missing.
   */
  path(): string;
  close(): void;
}

/** Opens the folder. If it is missing, each use tries again. */
export function holdFolder(path: string): WorkingFolder {
  let held = tryOpen(path);
  return {
    path() {
      held ??= tryOpen(path);
      const reached = held && pathTo(held, path);
      if (reached === undefined) throw new StartFailure("missing");
      return reached;
    },
    close() {
      if (held !== undefined) closeSync(held.descriptor);
      held = undefined;
    },
  };
}

interface Held extends Identity {
  readonly descriptor: number;
}

/** The identity of a folder while it is held open. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

function tryOpen(path: string): Held | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return { descriptor, dev, ino };
  } catch {
    if (descriptor !== undefined) closeSync(descriptor);
    return undefined;
  }
}

/**
 * Checks, on systems without paths by descriptor, that the folder is still at its path. Nothing is promised
 * between this check and the start.
 */
const pathTo = (held: Held, path: string): string | undefined =>
  [`/proc/self/fd/${held.descriptor}`, path].find((candidate) => leadsTo(held, candidate));

function leadsTo({ dev, ino }: Identity, path: string): boolean {
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there?.dev === dev && there.ino === ino;
}
