/**
 * Holds folders by changing into them: for systems without paths of descriptors (macOS), or without procfs.
 *
 * The current directory is the one handle that stays when other programs rename folders. The walk enters one
 * name at a time, and after each step "." must be the same folder (device and inode) that lstat saw before
 * it; so it notices a link planted in between before it reads or writes anything in it. The process is in a
 * folder only while synchronous code runs, on the main thread, and in "/" otherwise.
 */
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from "node:fs";
import type { Refusal } from "../../base/errors.ts";
import {
  type Backend,
  type BaseName,
  type HeldFolder,
  identifyByPath,
  listByPath,
  namesOf,
  nameText,
  onlyBase,
  pathIn,
  readLinkByPath,
} from "./backend.ts";
import { isCasefoldedAt } from "./casefold-flag.ts";
import type { OnDirent } from "./dirents.ts";
import { errnoError, errnoOf } from "./errno.ts";
import type { JailedPath, Name, PathHandle } from "./folder.ts";
import { jailedPath } from "./jailed-path.ts";
import { type Folding, type Naming, namingIn, namingOfBase } from "./name-comparison.ts";
import { fileSystemType, isPseudoType } from "./pseudo.ts";

const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** Holds the folder at the host path `base`, which must be canonical. Throws the errno error. */
export function holdByCurrentDirectory(base: string, { path, gone }: BaseName = onlyBase): Backend {
  const identity = identityOf(statSync(base, { bigint: true }));
  const hold = holdInode(base);
  const naming = namingOfBase({
    type: process.platform === "linux" ? fileSystemType(base) : undefined,
    isCasefolded: () => isCasefoldedAt(base),
  });
  const root: Step = { name: base, identity, baseDevice: identity.dev, naming, parent: undefined, gone };
  return {
    name: "current-directory",
    canResolveBeneath: false,
    naming,
    base: (requested) => new SteppedFolder(root, { requested, path }),
    goneAt: () => (isThere(base, identity) ? undefined : gone()),
    close() {
      leave();
      if (hold !== undefined) closeSync(hold);
    },
  };
}

/** Keeps the inode in use. Otherwise a new folder could get the inode of a removed one, and pass for it. */
function holdInode(folder: string): number | undefined {
  try {
    return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (errnoOf(error) === "EACCES") return undefined; // the folder may be entered but not listed
    throw error;
  }
}

/** Identifies a file among all existing ones. Numbers would round the inodes of some file systems. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A step on the path from the base to a folder. The base's name is its host path. */
interface Step {
  readonly name: Name;
  readonly identity: Identity;
  /** The device of the base. A pseudo file system is always on another one. */
  readonly baseDevice: bigint;
  readonly naming: Naming;
  readonly parent: Step | undefined;
  /** Returns the refusal to throw if the base is gone. */
  readonly gone: () => Refusal;
}

class SteppedFolder implements HeldFolder {
  readonly descriptor = undefined;
  readonly requested: string;
  readonly path: string;
  readonly isText: boolean;
  readonly #step: Step;

  constructor(
    step: Step,
    { requested, path, isText = true }: { requested: string; path: string; isText?: boolean },
  ) {
    this.#step = step;
    this.requested = requested;
    this.path = path;
    this.isText = isText;
  }

  get names(): readonly string[] {
    return namesOf(this.path);
  }

  get folding(): Folding {
    return this.#step.naming.folding;
  }

  enter<T>(act: (at: (name: Name) => JailedPath) => T): T {
    if (isInside) throw new Error("two folders cannot be entered at once");
    standIn(this.#step);
    isInside = true;
    try {
      return act(at);
    } finally {
      isInside = false;
    }
  }

  child(name: Name): SteppedFolder {
    const found = this.enter(() => lstatSync(at(name), { bigint: true }));
    if (found.isSymbolicLink()) throw errnoError("ELOOP");
    if (!found.isDirectory()) throw errnoError("ENOTDIR");
    const type = this.#typeElsewhere(name, found.dev);
    const { baseDevice, naming: outer, gone } = this.#step;
    const naming = namingIn(outer, {
      type,
      isCasefolded: () => this.enter(() => isCasefoldedAt(at(name))),
    });
    const step: Step = { name, identity: identityOf(found), baseDevice, naming, parent: this.#step, gone };
    // A handle exists only for a folder that the process can change into.
    standIn(step);
    return new SteppedFolder(step, {
      requested: this.requested,
      path: pathIn(this.path, nameText(name)),
      isText: this.isText && typeof name === "string",
    });
  }

  openPath(name: Name): PathHandle {
    const [stats, exact] = this.enter(() => [lstatSync(at(name)), lstatSync(at(name), { bigint: true })]);
    this.#typeElsewhere(name, exact.dev);
    return new NamedHandle({ folder: this, name, identity: identityOf(exact) }, stats);
  }

  lstat(name: Name): Stats {
    return this.enter(() => lstatSync(at(name)));
  }

  identify(name: Name): string {
    return identifyByPath(this, name);
  }

  readLink(name: Name): Buffer {
    return readLinkByPath(this, name);
  }

  list(onDirent: OnDirent): Generator<void, void, void> {
    return listByPath(this, onDirent);
  }

  /** Does nothing, since this backend holds nothing between two `enter` calls. */
  close(): void {}

  [Symbol.dispose](): void {}

  /** Returns the type of the file system if it is not the base's. Throws ENODEV for a pseudo one. */
  #typeElsewhere(name: Name, device: bigint): number | undefined {
    if (device === this.#step.baseDevice) return undefined;
    const type = this.enter(() => fileSystemType(at(name)));
    if (isPseudoType(type)) throw errnoError("ENODEV");
    return type;
  }
}

/** A file found under a name. It compares identities whenever it uses the name again. */
class NamedHandle implements PathHandle {
  readonly stats: Stats;
  readonly #found: { readonly folder: SteppedFolder; readonly name: Name; readonly identity: Identity };

  constructor(found: { folder: SteppedFolder; name: Name; identity: Identity }, stats: Stats) {
    this.#found = found;
    this.stats = stats;
  }

  open(): number {
    return this.#open((now) => now.isFile());
  }

  /**
   * Sets the mode. Fails for a file that may not be read, because calls by name would follow a link planted
   * there.
   */
  chmod(mode: number): void {
    this.#with((descriptor) => fchmodSync(descriptor, mode));
  }

  chown(uid: number, gid: number): void {
    this.#with((descriptor) => fchownSync(descriptor, uid, gid));
  }

  #with(act: (descriptor: number) => void): void {
    const descriptor = this.#open((now) => now.isFile() || now.isDirectory());
    try {
      act(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  #open(isWanted: (now: BigIntStats) => boolean): number {
    const { folder, name, identity } = this.#found;
    return folder.enter(() => {
      // This second comparison leaves only these lines as a window in which a device could be planted and
      // opened.
      const now = lstatSync(at(name), { bigint: true });
      if (now.isSymbolicLink()) throw errnoError("ELOOP");
      if (!isWanted(now) || !isIdentical(now, identity)) throw errnoError("ESTALE");
      const descriptor = openSync(at(name), readFlags);
      if (isIdentical(fstatSync(descriptor, { bigint: true }), identity)) return descriptor;
      closeSync(descriptor);
      throw errnoError("ESTALE");
    });
  }

  requireWritable(): void {
    const { folder, name } = this.#found;
    folder.enter(() => accessSync(at(name), constants.W_OK));
  }

  close(): void {}
}

const at = (name: Name): JailedPath => jailedPath("./", name);

/** Whether an `enter` callback is running, during which the current directory must not change. */
let isInside = false;

/** The current directory of the process, which has one for all jails. */
let here: Step | undefined;

/**
 * Changes into the folder unless it is current. Throws ENOENT if the path no longer leads to the same folder.
 */
function standIn(step: Step): void {
  if (here === step) return;
  // This runs as soon as the current code returns or awaits.
  if (here === undefined) queueMicrotask(leave);
  try {
    goTo(step);
  } catch (error) {
    here = undefined;
    process.chdir("/");
    throw error;
  }
  here = step;
}

function goTo({ parent, name, identity, gone }: Step): void {
  if (parent === undefined) {
    if (!isThere(name, identity)) throw gone();
    stepInto(name, identity);
    return;
  }
  if (here !== parent) goTo(parent);
  stepInto(at(name), identity);
}

function stepInto(path: Name, identity: Identity): void {
  // The runtimes accept only strings here, so the process cannot change into a folder whose name is not
  // UTF-8.
  if (typeof path !== "string") throw errnoError("EILSEQ");
  process.chdir(path);
  if (!isIdentical(statSync(".", { bigint: true }), identity)) throw errnoError("ENOENT");
}

function leave(): void {
  if (here === undefined) return;
  here = undefined;
  process.chdir("/");
}

const identityOf = ({ dev, ino }: Identity): Identity => ({ dev, ino });

const isIdentical = (one: Identity, other: Identity): boolean =>
  one.ino === other.ino && one.dev === other.dev;

function isThere(path: Name, identity: Identity): boolean {
  try {
    return isIdentical(lstatSync(path, { bigint: true }), identity);
  } catch {
    return false;
  }
}
