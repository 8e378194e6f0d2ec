/**
 * Folders held by descriptors (Linux): with O_PATH, or opened to be read where that takes one step. A descriptor keeps
 * meaning the same folder when it is renamed or replaced, and `/proc/self/fd/N/name` names an entry of exactly that
 * folder, so what was checked is what is used.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
} from "node:fs";
import { type Backend, type HeldFolder, listByPath, namesOf, nameText, pathIn } from "./backend.ts";
import { isCasefolded } from "./casefold.ts";
import type { OnDirent } from "./dirents.ts";
import { errnoError } from "./errno.ts";
import type { JailedPath, Name, Sight } from "./folder.ts";
import { type Folding, type Naming, namingIn, namingOfBase } from "./folding.ts";
import { jailedPath, requireOneName } from "./jailed-path.ts";
import {
  O_PATH,
  type OpenAt,
  openAt,
  openBeneath,
  openThroughProc,
  readDirents,
  reopen,
  reopenThroughProc,
} from "./openat.ts";
import { fileSystemType, isPseudoType } from "./pseudo.ts";
import { canLeap } from "./selftest.ts";

const folderFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const sightFlags = O_PATH | constants.O_NOFOLLOW;
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The backends of this module by the way they open. */
export const waysToOpen = { openat: openAt, descriptors: openThroughProc } as const satisfies Record<
  string,
  OpenAt
>;

/** Holds the folder at the host path `base`, which must be canonical. Throws the errno error. */
export function holdByDescriptors(base: string, name: keyof typeof waysToOpen): Backend {
  const descriptor = openSync(base, folderFlags);
  const isDirect = name === "openat";
  const own = isDirect ? openSync("/proc/self/fd", folderFlags) : undefined;
  const leaps = isDirect && canLeap();
  const way: Way = {
    open: waysToOpen[name],
    ...(leaps && { openBeneath }),
    reopen: (held, flags) =>
      own === undefined || way.isClosed ? reopenThroughProc(held, flags) : reopen(own, held, flags),
    device: fstatSync(descriptor).dev,
    naming: namingOfBase({
      type: fileSystemType(`/proc/self/fd/${descriptor}`),
      isCasefolded: () => isCasefoldedWithin(descriptor),
    }),
    isClosed: false,
  };
  return {
    name,
    leaps,
    naming: way.naming,
    base: (asked) =>
      new DescriptorFolder(way, { descriptor, asked, path: "", isBase: true, naming: way.naming }),
    isBaseGone: () => fstatSync(descriptor).nlink === 0,
    close() {
      way.isClosed = true;
      closeSync(descriptor);
      if (own !== undefined) closeSync(own);
    },
  };
}

interface Way {
  readonly open: OpenAt;
  readonly openBeneath?: typeof openBeneath;
  readonly reopen: (descriptor: number, flags: number) => number;
  /** The device of the base: only elsewhere can there be a pseudo file system. */
  readonly device: number;
  /** That of the base. */
  readonly naming: Naming;
  /** The base is held no more. */
  isClosed: boolean;
}

interface Spot {
  readonly descriptor: number;
  readonly asked: string;
  readonly path: string;
  readonly naming: Naming;
  readonly isBase?: boolean;
  /** The descriptor was opened for reading, and not with O_PATH alone. */
  readonly isListable?: boolean;
}

class DescriptorFolder implements HeldFolder {
  readonly descriptor: number;
  readonly asked: string;
  readonly path: string;
  readonly #way: Way;
  readonly #naming: Naming;
  readonly #isBase: boolean;
  readonly #isListable: boolean;
  #isClosed = false;

  constructor(way: Way, { descriptor, asked, path, naming, isBase = false, isListable = false }: Spot) {
    this.#way = way;
    this.#naming = naming;
    this.descriptor = descriptor;
    this.asked = asked;
    this.path = path;
    this.#isBase = isBase;
    this.#isListable = isListable;
  }

  get names(): readonly string[] {
    return namesOf(this.path);
  }

  get folding(): Folding {
    return this.#naming.folding;
  }

  enter<T>(act: (at: (name: Name) => JailedPath) => T): T {
    this.#requireOpen();
    const prefix = `/proc/self/fd/${this.descriptor}/`;
    return act((name) => jailedPath(prefix, name));
  }

  child(name: Name): DescriptorFolder {
    this.#requireOpen();
    requireOneName(name);
    const listable = this.#way.openBeneath?.(this.descriptor, name, "list");
    if (listable !== undefined) {
      const inner = { type: undefined, isCasefolded: () => isCasefolded(listable) };
      return this.#childAt(listable, name, { isListable: true, naming: namingIn(this.#naming, inner) });
    }
    const descriptor = this.#way.open(this.descriptor, name, folderFlags);
    try {
      const type = typeElsewhere(descriptor, fstatSync(descriptor).dev, this.#way);
      const inner = { type, isCasefolded: () => isCasefoldedWithin(descriptor) };
      return this.#childAt(descriptor, name, { isListable: false, naming: namingIn(this.#naming, inner) });
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  #childAt(descriptor: number, name: Name, more: Pick<Spot, "isListable" | "naming">): DescriptorFolder {
    const path = pathIn(this.path, nameText(name));
    return new DescriptorFolder(this.#way, { descriptor, asked: this.asked, path, ...more });
  }

  *list(onDirent: OnDirent): Generator<void, void, void> {
    this.#requireOpen();
    const directly = this.#listDirectly(onDirent);
    try {
      for (;;) {
        const { done, value: hasTold } = directly.next();
        if (done && hasTold) return;
        if (done) break;
        yield;
        this.#requireOpen();
      }
    } finally {
      directly.return(true);
    }
    yield* listByPath(this, onDirent);
  }

  /** Returns false when it cannot, and has told nothing. */
  *#listDirectly(onDirent: OnDirent): Generator<void, boolean, void> {
    if (this.#isListable) return yield* readDirents(this.descriptor, onDirent);
    const listable = this.#way.openBeneath?.(this.descriptor, ".", "list");
    if (listable === undefined) return false;
    try {
      return yield* readDirents(listable, onDirent);
    } finally {
      closeSync(listable);
    }
  }

  descendant(path: string): DescriptorFolder | undefined {
    this.#requireOpen();
    const descriptor = this.#way.openBeneath?.(this.descriptor, path, "folder");
    if (descriptor === undefined) return undefined;
    return this.#childAt(descriptor, path, { isListable: false, naming: this.#naming });
  }

  glance(path: string): Sight | undefined {
    this.#requireOpen();
    const descriptor = this.#way.openBeneath?.(this.descriptor, path, "any");
    return descriptor === undefined ? undefined : this.#sightOf(descriptor);
  }

  look(name: Name): Sight {
    this.#requireOpen();
    return this.#sightOf(this.#way.open(this.descriptor, name, sightFlags));
  }

  #sightOf(descriptor: number): Sight {
    try {
      const stats = fstatSync(descriptor);
      typeElsewhere(descriptor, stats.dev, this.#way);
      return new DescriptorSight(descriptor, stats, this.#way);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  lstat(name: Name): Stats {
    if (this.#way.open === openThroughProc) return this.enter((at) => lstatSync(at(name)));
    this.#requireOpen();
    // Half of what the way through procfs takes.
    const descriptor = this.#way.open(this.descriptor, name, sightFlags);
    try {
      return fstatSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isBase) closeSync(this.descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** The number of a closed descriptor is soon another file's. */
  #requireOpen(): void {
    if (this.#isClosed || (this.#isBase && this.#way.isClosed))
      throw new Error("a folder was used after it was closed");
  }
}

class DescriptorSight implements Sight {
  readonly stats: Stats;
  readonly #descriptor: number;
  readonly #way: Way;

  constructor(descriptor: number, stats: Stats, way: Way) {
    this.#descriptor = descriptor;
    this.stats = stats;
    this.#way = way;
  }

  /** Through the magic link, which means this very file and not its name. */
  open(): number {
    return this.#way.reopen(this.#descriptor, readFlags);
  }

  requireWritable(): void {
    accessSync(`/proc/self/fd/${this.#descriptor}`, constants.W_OK);
  }

  chmod(mode: number): void {
    chmodSync(`/proc/self/fd/${this.#descriptor}`, mode);
  }

  chown(uid: number, gid: number): void {
    chownSync(`/proc/self/fd/${this.#descriptor}`, uid, gid);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** The type of the file system that a descriptor leads to, when that is not the base's. Throws ENODEV for a pseudo one. */
function typeElsewhere(descriptor: number, device: number, way: Way): number | undefined {
  if (device === way.device) return undefined;
  const type = fileSystemType(`/proc/self/fd/${descriptor}`);
  if (isPseudoType(type)) throw errnoError("ENODEV");
  return type;
}

/** `isCasefolded` for a folder that is held by O_PATH. True when it may not be read, and so not be asked. */
function isCasefoldedWithin(descriptor: number): boolean {
  try {
    const readable = openSync(`/proc/self/fd/${descriptor}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      return isCasefolded(readable);
    } finally {
      closeSync(readable);
    }
  } catch {
    return true;
  }
}
