/** A file held by an O_PATH descriptor. */
import { accessSync, chmodSync, chownSync, closeSync, constants, type Stats } from "node:fs";
import type { PathHandle } from "./folder.ts";

const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a held descriptor again with other flags. */
interface Reopener {
  readonly reopen: (descriptor: number, flags: number) => number;
}

export class DescriptorHandle implements PathHandle {
  readonly stats: Stats;
  readonly #descriptor: number;
  readonly #opener: Reopener;

  constructor(descriptor: number, stats: Stats, opener: Reopener) {
    this.#descriptor = descriptor;
    this.stats = stats;
    this.#opener = opener;
  }

  /** Opens the magic link, which leads to this very file and not to its name. */
  open(): number {
    return this.#opener.reopen(this.#descriptor, readFlags);
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
