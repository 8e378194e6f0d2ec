/**
 * Reads the entry under a name of a watched tree, by its path from the base, through no link and no mount.
 */
import { closeSync } from "node:fs";
import { openBeneath } from "../jail/openat.ts";
import { type Stamps, stampsAt } from "../jail/statx.ts";
import { partsOf } from "./path-parts.ts";

export class StampReader {
  readonly #base: number;

  /** Reads below the base that `descriptor` holds. It must stay open. */
  constructor(descriptor: number) {
    this.#base = descriptor;
  }

  /**
   * Returns the stamps of the entry at this path, one character per byte, or "missing" if it cannot be
   * reached.
   */
  at(path: string): Stamps | "missing" {
    const slash = path.lastIndexOf("/");
    const folder = slash < 0 ? this.#base : this.#open(path.slice(0, slash));
    if (folder === undefined) return "missing";
    try {
      return stampsAt(folder, bytesOf(path.slice(slash + 1))) ?? "missing";
    } finally {
      if (folder !== this.#base) closeSync(folder);
    }
  }

  #open(path: string): number | undefined {
    let folder: number | undefined = this.#base;
    for (const part of partsOf(path)) {
      const next = openBeneath(folder, bytesOf(part), "folder");
      if (folder !== this.#base) closeSync(folder);
      if (next === undefined) return undefined;
      folder = next;
    }
    return folder;
  }
}

const bytesOf = (path: string): Buffer => Buffer.from(path, "latin1");
