/** Tracks the mounts below the base of a tree, and notices when they change. */
import { closeSync, openSync } from "node:fs";
import { openLibc } from "../../base/bun.ts";
import type { Folder } from "../jail/folder.ts";
import { mountsBelow } from "../jail/mounts.ts";

export class MountTable {
  readonly #base: Folder;
  /** The open mountinfo file, which poll(2) reports as ready when the mounts have changed. */
  readonly #descriptor: number;
  readonly #calls: Libc;
  #known: string;
  /** The folders in which some file is a mount point. */
  #withFiles: ReadonlySet<string> = new Set();

  private constructor(base: Folder, descriptor: number, calls: Libc) {
    this.#base = base;
    this.#descriptor = descriptor;
    this.#calls = calls;
    this.#known = this.#read();
  }

  /** Opens the table, or returns `undefined` if the system has no list of mounts. */
  static open(base: Folder): MountTable | undefined {
    const calls = load();
    if (calls === undefined || mountsBelow(base) === undefined) return undefined;
    return new MountTable(base, openSync("/proc/self/mountinfo", "r"), calls);
  }

  /** Returns whether the mounts below the base differ from those at the last call. */
  hasChanged(): boolean {
    polled.setInt32(0, this.#descriptor, true);
    polled.setUint32(4, POLLPRI, true);
    if (this.#calls.poll(polledBytes, 1, 0) === 0) return false;
    const before = this.#known;
    this.#known = this.#read();
    return this.#known !== before;
  }

  /**
   * Returns whether some file in the folder at this path is a mount point. Such a file can be written to
   * under its other name, without an event here.
   */
  hasFileIn(path: string): boolean {
    return this.#withFiles.has(path);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(): string {
    const mounts = mountsBelow(this.#base) ?? [];
    const files = mounts.filter((mount) => !mount.isFolder);
    this.#withFiles = new Set(files.map(({ path }) => path.slice(0, Math.max(path.lastIndexOf("/"), 0))));
    return mounts.map(({ path, isFolder }) => `${path}\0${isFolder}`).join("\0");
  }
}

/** The struct pollfd: a descriptor, the requested events, and the returned events. */
const polledBytes = new Uint8Array(8);
const polled = new DataView(polledBytes.buffer);
/** poll.h */
const POLLPRI = 2;

interface Libc {
  poll(descriptors: Uint8Array, count: number, milliseconds: number): number;
}

let loaded: Libc | "none" | undefined;

function load(): Libc | undefined {
  loaded ??= openLibc<Libc>({ poll: { args: ["ptr", "u64", "i32"], returns: "i32" } }) ?? "none";
  return loaded === "none" ? undefined : loaded;
}
