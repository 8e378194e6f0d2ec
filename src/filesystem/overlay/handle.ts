import type { Stats } from "node:fs";
import type { PathHandle } from "../jail/folder.ts";
import { access, requireAccess } from "./stats.ts";

interface Pending {
  readonly stats: Stats;
  /** The bytes of a file that is not on disk yet. */
  readonly content?: readonly Uint8Array[] | undefined;
  /** The file on disk that has the bytes. */
  readonly disk?: PathHandle | undefined;
}

/** An entry in the state that the changes so far would leave. It may be read, but not changed. */
export class PlannedHandle implements PathHandle {
  readonly stats: Stats;
  readonly content: readonly Uint8Array[] | undefined;
  readonly #disk: PathHandle | undefined;

  constructor({ stats, content, disk }: Pending) {
    this.stats = stats;
    this.content = content;
    this.#disk = disk;
  }

  open(): number {
    if (this.#disk === undefined) throw new Error("a file that is pending was opened");
    return this.#disk.open();
  }

  requireWritable(): void {
    requireAccess(this.stats, access.write);
  }

  chmod(): void {
    throw new Error("an entry that is pending cannot be changed");
  }

  chown(): void {
    throw new Error("an entry that is pending cannot be given away");
  }

  close(): void {
    this.#disk?.close();
  }
}
