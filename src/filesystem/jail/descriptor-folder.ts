/** Holds folders by descriptors: with O_PATH, or opened for reading if that takes one step. */
import { closeSync, constants, fstatSync, lstatSync, type Stats } from "node:fs";
import {
  type HeldFolder,
  identifyByPath,
  listByPath,
  namesOf,
  nameText,
  pathIn,
  readLinkByPath,
} from "./backend.ts";
import { isCasefolded, isCasefoldedWithin } from "./casefold-flag.ts";
import { DescriptorHandle } from "./descriptor-handle.ts";
import type { OnDirent } from "./dirents.ts";
import type { JailedPath, Name, PathHandle } from "./folder.ts";
import { jailedPath, requireOneName } from "./jailed-path.ts";
import type { FileStats } from "./kind.ts";
import { type Folding, type Naming, namingIn } from "./name-comparison.ts";
import {
  O_PATH,
  type OpenAt,
  openAt,
  type openBeneath,
  openThroughProc,
  readDirents,
  readRest,
} from "./openat.ts";
import { endOffsetOn, typeElsewhere } from "./pseudo.ts";
import { statAt } from "./statx.ts";

export const folderFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const pathFlags = O_PATH | constants.O_NOFOLLOW;

/** Opens the folders below a base. */
export interface Opener {
  readonly open: OpenAt;
  readonly openBeneath?: typeof openBeneath;
  readonly reopen: (descriptor: number, flags: number) => number;
  /** The device of the base. A pseudo file system is always on another one. */
  readonly device: number;
  /** The naming of the base. */
  readonly naming: Naming;
  /** Whether the base has been released. */
  isClosed: boolean;
}

interface FolderInit {
  readonly descriptor: number;
  readonly requested: string;
  readonly path: string;
  /** Documented at `Folder.isText`. Default: true. */
  readonly isText?: boolean;
  readonly naming: Naming;
  /** The type of its file system. */
  readonly type: number;
  readonly isBase?: boolean;
  /** Whether the descriptor was opened for reading, and not with O_PATH alone. */
  readonly isListable?: boolean;
}

export class DescriptorFolder implements HeldFolder {
  readonly descriptor: number;
  readonly requested: string;
  readonly path: string;
  readonly isText: boolean;
  readonly #opener: Opener;
  readonly #naming: Naming;
  readonly #isBase: boolean;
  readonly #isListable: boolean;
  readonly #type: number;
  #isClosed = false;
  #wasRead = false;

  constructor(
    opener: Opener,
    {
      descriptor,
      requested,
      path,
      isText = true,
      naming,
      type,
      isBase = false,
      isListable = false,
    }: FolderInit,
  ) {
    this.#type = type;
    this.#opener = opener;
    this.#naming = naming;
    this.descriptor = descriptor;
    this.requested = requested;
    this.path = path;
    this.isText = isText;
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
    const listable = this.#opener.openBeneath?.(this.descriptor, name, "list");
    if (listable !== undefined) {
      const inner = { type: undefined, isCasefolded: () => isCasefolded(listable) };
      return this.#childAt(name, {
        descriptor: listable,
        isListable: true,
        naming: namingIn(this.#naming, inner),
        type: this.#type,
      });
    }
    const descriptor = this.#opener.open(this.descriptor, name, folderFlags);
    try {
      const type = typeElsewhere(descriptor, fstatSync(descriptor).dev, this.#opener.device);
      const inner = { type, isCasefolded: () => isCasefoldedWithin(descriptor) };
      const naming = namingIn(this.#naming, inner);
      return this.#childAt(name, { descriptor, isListable: false, naming, type: type ?? 0 });
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** Creates a child folder. The fields are spelled out because a walk creates very many. */
  #childAt(
    name: Name,
    { descriptor, isListable = false, naming, type }: Omit<FolderInit, "requested" | "path" | "isBase">,
  ): DescriptorFolder {
    const { requested } = this;
    const path = pathIn(this.path, nameText(name));
    const isText = this.isText && typeof name === "string";
    return new DescriptorFolder(this.#opener, {
      descriptor,
      requested,
      path,
      isText,
      isListable,
      naming,
      type,
    });
  }

  *list(onDirent: OnDirent): Generator<void, void, void> {
    this.#requireOpen();
    const own = this.#isListable ? this.descriptor : undefined;
    const descriptor = own ?? this.#opener.openBeneath?.(this.descriptor, ".", "list");
    try {
      const rest = descriptor === undefined ? "unread" : this.#read(descriptor, onDirent);
      if (rest === undefined) return;
      if (rest !== "unread") {
        yield;
        return yield* rest;
      }
    } finally {
      if (own === undefined && descriptor !== undefined) closeSync(descriptor);
    }
    yield* listByPath(this, onDirent);
  }

  listAtOnce(onDirent: OnDirent): Generator<void, void, void> | undefined {
    if (!this.#isListable) return this.list(onDirent);
    this.#requireOpen();
    const rest = this.#read(this.descriptor, onDirent);
    return rest === "unread" ? listByPath(this, onDirent) : rest;
  }

  /** Reports the first entries, and returns the rest, or "unread" if that is impossible in this way. */
  #read(descriptor: number, onDirent: OnDirent): Generator<void, void, void> | "unread" | undefined {
    const isAgain = this.#isListable && this.#wasRead;
    this.#wasRead = true;
    const reading = { descriptor, endOffset: endOffsetOn(this.#type) };
    const read = readDirents({ ...reading, from: isAgain ? "set-back" : "start" }, onDirent);
    if (read === undefined) return "unread";
    return read === "end" ? undefined : readRest(reading, onDirent, () => this.#requireOpen());
  }

  openFolderBeneath(path: string): DescriptorFolder | undefined {
    this.#requireOpen();
    const descriptor = this.#opener.openBeneath?.(this.descriptor, path, "folder");
    if (descriptor === undefined) return undefined;
    return this.#childAt(path, {
      descriptor,
      isListable: false,
      naming: this.#naming,
      type: this.#type,
    });
  }

  openPathBeneath(path: string): PathHandle | undefined {
    this.#requireOpen();
    const descriptor = this.#opener.openBeneath?.(this.descriptor, path, "any");
    return descriptor === undefined ? undefined : this.#handleOf(descriptor);
  }

  openPath(name: Name): PathHandle {
    this.#requireOpen();
    return this.#handleOf(this.#opener.open(this.descriptor, name, pathFlags));
  }

  #handleOf(descriptor: number): PathHandle {
    try {
      const stats = fstatSync(descriptor);
      typeElsewhere(descriptor, stats.dev, this.#opener.device);
      return new DescriptorHandle(descriptor, stats, this.#opener);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  lstat(name: Name): Stats {
    if (this.#opener.open === openThroughProc) return this.enter((at) => lstatSync(at(name)));
    this.#requireOpen();
    // This takes half the time of the path through procfs.
    const descriptor = this.#opener.open(this.descriptor, name, pathFlags);
    try {
      return fstatSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  statx(name: Name): FileStats | undefined {
    this.#requireOpen();
    return this.#opener.open === openAt ? statAt(this.descriptor, name) : undefined;
  }

  identify(name: Name): string {
    return identifyByPath(this, name);
  }

  readLink(name: Name): Buffer {
    return readLinkByPath(this, name);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isBase) closeSync(this.descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Guards against use after close, since the system soon reuses the number of a closed descriptor. */
  #requireOpen(): void {
    if (this.#isClosed || (this.#isBase && this.#opener.isClosed))
      throw new Error("a folder was used after it was closed");
  }
}
