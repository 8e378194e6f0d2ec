import { beginAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { fold } from "../jail/fold-path.ts";

/** A place in the lines of some paths, and in those of the folders above them. */
export interface PathTurn {
  /** Resolves when it has left all lines. */
  readonly ended: Promise<void>;
  /** Leaves all lines, at once if they are few, otherwise in time slices. */
  leave(): void;
}

/** The turns at one path, and those at paths below it, by arrival. */
interface Line {
  readonly path: string;
  newest: Claim | undefined;
  /** The number of claims on the path itself. */
  owners: number;
}

/** A turn in one line. */
interface Claim {
  readonly turn: LinedTurn;
  readonly line: Line;
  /** Whether the turn is for the path itself, and not only for paths below it. */
  isOwn: boolean;
  older: Claim | undefined;
  newer: Claim | undefined;
}

/**
 * The lines of paths. Two turns conflict if a path of one is that of the other, or a folder above it. Joining
 * and leaving take time in proportion to the paths of one turn, however many others there are.
 */
export class PathLines {
  readonly #lines = new Map<string, Line>();

  /**
   * Joins the lines of all paths, after all earlier turns. No other turn may join between two steps, since
   * two turns could then wait for each other.
   */
  *join(paths: readonly string[]): Steps<PathTurn> {
    const turn = new LinedTurn((claims) => this.#remove(claims));
    for (const [index, path] of paths.entries()) {
      if (index > 0) yield;
      this.#claim(turn, fold(path));
    }
    return turn;
  }

  /** Returns an earlier turn that conflicts with this one and has not ended. */
  blocking(turn: PathTurn): PathTurn | undefined {
    return (turn as LinedTurn).blocking();
  }

  /** Returns whether a turn for the paths would conflict with none. */
  areFree(paths: readonly string[]): boolean {
    if (this.#lines.size === 0) return true;
    for (const path of paths) {
      const folded = fold(path);
      if (this.#lines.has(folded)) return false;
      for (let outer = folded; outer !== ""; ) {
        outer = folderOf(outer);
        if ((this.#lines.get(outer)?.owners ?? 0) > 0) return false;
      }
    }
    return true;
  }

  #claim(turn: LinedTurn, path: string): void {
    const own = this.#lineOf(path);
    const claim = newestOf(turn, own) ?? append(turn, own);
    if (claim.isOwn) return;
    claim.isOwn = true;
    own.owners++;
    for (let outer = path; outer !== ""; ) {
      outer = folderOf(outer);
      const line = this.#lineOf(outer);
      // A turn in the line of a folder is in those of all folders above it.
      if (newestOf(turn, line) !== undefined) return;
      append(turn, line);
    }
  }

  #lineOf(path: string): Line {
    const known = this.#lines.get(path);
    if (known !== undefined) return known;
    const line = { path, newest: undefined, owners: 0 };
    this.#lines.set(path, line);
    return line;
  }

  *#remove(claims: readonly Claim[]): Steps<void> {
    for (const [index, claim] of claims.entries()) {
      if (index % removedAtOnce === removedAtOnce - 1) yield;
      const { line, isOwn, older, newer } = claim;
      if (isOwn) line.owners--;
      if (older !== undefined) older.newer = newer;
      if (newer !== undefined) newer.older = older;
      else if (older !== undefined) line.newest = older;
      else this.#lines.delete(line.path);
    }
  }
}

/** The number of claims that are removed in one step. */
const removedAtOnce = 64;

/** Returns the claim of the turn in a line if no later one has joined it. */
const newestOf = (turn: LinedTurn, { newest }: Line): Claim | undefined =>
  newest?.turn === turn ? newest : undefined;

function append(turn: LinedTurn, line: Line): Claim {
  const older = line.newest;
  const claim: Claim = { turn, line, isOwn: false, older, newer: undefined };
  if (older !== undefined) older.newer = claim;
  line.newest = claim;
  turn.claims.push(claim);
  return claim;
}

class LinedTurn implements PathTurn {
  readonly claims: Claim[] = [];
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #remove: (claims: readonly Claim[]) => Steps<void>;
  /** The number of claims that no earlier turn conflicts with. Later turns change nothing about them. */
  #clear = 0;

  constructor(remove: (claims: readonly Claim[]) => Steps<void>) {
    let end = () => {};
    this.ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#end = end;
    this.#remove = remove;
  }

  blocking(): PathTurn | undefined {
    for (; this.#clear < this.claims.length; this.#clear++) {
      const blocking = conflicting(this.claims[this.#clear]!);
      if (blocking !== undefined) return blocking;
    }
    return undefined;
  }

  leave(): void {
    const removing = beginAtOnce(this.#remove(this.claims.splice(0)));
    if (removing instanceof Promise) void removing.then(this.#end);
    else this.#end();
  }
}

/** Returns the newest earlier turn that conflicts with the claim. */
function conflicting({ isOwn, line, older }: Claim): PathTurn | undefined {
  if (isOwn) return older?.turn;
  if (line.owners === 0) return undefined;
  let claim = older;
  while (claim !== undefined && !claim.isOwn) claim = claim.older;
  return claim?.turn;
}

/** Returns the folder of a path, "" for a name in the base. */
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
