/**
 * The folder that callers see above several roots. It is on no disk: its entries are the roots, and it
 * accepts no others.
 */
import { type Stats, statSync } from "node:fs";
import type { Refusal } from "../../base/errors.ts";
import type { Backend, HeldFolder } from "./backend.ts";
import { nameText } from "./backend.ts";
import type { OnDirent } from "./dirents.ts";
import { errnoError } from "./errno.ts";
import type { JailedPath, Name, PathHandle } from "./folder.ts";
import { refuseJailed } from "./jail-errors.ts";
import type { Naming } from "./name-comparison.ts";
import type { Roots } from "./roots.ts";

/** Returns a backend whose base is the top folder, over those of the roots. */
export function holdRoots(roots: Roots): Backend {
  const backends = roots.all.map(({ backend }) => backend);
  const stats = topStats(statSync(roots.all[0]!.base));
  return {
    name: backends[0]!.name,
    canResolveBeneath: backends.every(({ canResolveBeneath }) => canResolveBeneath),
    naming: minExact(backends.map(({ naming }) => naming)),
    base: (requested) => new TopFolder(roots, requested, stats),
    goneAt: (path) => roots.at(path)?.backend.goneAt(path) ?? missingAt(roots, path),
    close: () => roots.close(),
  };
}

/** Returns the refusal of a path in a root that is not served. */
function missingAt({ missing }: Roots, path: string): Refusal | undefined {
  const name = path.split("/", 1)[0]!;
  return missing.some((root) => root.name === name) ? refuseJailed.rootMissing(name) : undefined;
}

/**
 * Returns the least exact naming, so that one step denies everything that any root could treat as the same
 * name.
 */
function minExact(namings: readonly Naming[]): Naming {
  const isFlagged = namings.some((naming) => naming.isFlagged);
  const has = (folding: Naming["folding"]) => namings.some((naming) => naming.folding === folding);
  return { folding: has("foreign") ? "foreign" : has("folded") ? "folded" : "exact", isFlagged };
}

/** Returns the stats of a folder that no process may write to, on a device of its own. */
const topStats = (sample: Stats): Stats =>
  Object.create(sample, {
    dev: { value: -1 },
    ino: { value: 0 },
    mode: { value: 0o040555 },
    nlink: { value: 1 },
  });

class TopFolder implements HeldFolder {
  readonly descriptor = undefined;
  readonly isTop = true;
  readonly names = [];
  readonly path = "";
  readonly isText = true;
  readonly folding = "exact";
  readonly requested: string;
  readonly #roots: Roots;
  readonly #stats: Stats;

  constructor(roots: Roots, requested: string, stats: Stats) {
    this.#roots = roots;
    this.requested = requested;
    this.#stats = stats;
  }

  /** Throws, since nothing here has a path of the system. */
  enter<T>(_: (at: (name: Name) => JailedPath) => T): T {
    throw errnoError("EROFS");
  }

  child(name: Name): HeldFolder {
    const root = this.#roots.reach(nameText(name));
    if (root === undefined) throw errnoError("ENOENT");
    return root.backend.base(this.requested);
  }

  *list(onDirent: OnDirent): Generator<void, void, void> {
    for (const { name } of this.#roots.all) {
      const bytes = Buffer.from(name);
      onDirent(bytes, 0, bytes.length, "dir");
    }
    yield;
  }

  openFolderBeneath(path: string): HeldFolder | undefined {
    return this.#beneath(path, (root, rest) => (rest === "" ? root : root.openFolderBeneath?.(rest)));
  }

  openPathBeneath(path: string): PathHandle | undefined {
    return this.#beneath(path, (root, rest) => (rest === "" ? undefined : root.openPathBeneath?.(rest)));
  }

  #beneath<T>(path: string, open: (root: HeldFolder, rest: string) => T | undefined): T | undefined {
    const slash = path.indexOf("/");
    const root = this.#roots.reach(slash === -1 ? path : path.slice(0, slash));
    return root && open(root.backend.base(this.requested), slash === -1 ? "" : path.slice(slash + 1));
  }

  openPath(name: Name): PathHandle {
    return name === "." ? new TopHandle(this.#stats) : this.child(name).openPath(".");
  }

  lstat(name: Name): Stats {
    return name === "." ? this.#stats : this.child(name).lstat(".");
  }

  identify(name: Name): string {
    return name === "." ? "top" : this.child(name).identify(".");
  }

  readLink(name: Name): Buffer {
    this.lstat(name);
    throw errnoError("EINVAL");
  }

  close(): void {}

  [Symbol.dispose](): void {}
}

/** A handle of the top folder, which has only its stats. */
class TopHandle implements PathHandle {
  readonly stats: Stats;

  constructor(stats: Stats) {
    this.stats = stats;
  }

  open(): number {
    throw errnoError("EROFS");
  }

  requireWritable(): void {
    throw errnoError("EROFS");
  }

  chmod(): void {
    throw errnoError("EROFS");
  }

  chown(): void {
    throw errnoError("EROFS");
  }

  close(): void {}
}
