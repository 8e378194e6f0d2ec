import { costOf, IgnoreFile } from "./ignore-file.ts";
import { parseRules } from "./rule.ts";

/** Estimated bytes of all cached ignore files together. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Compiled ignore files by their text: what one search has compiled, and how names run through it, serves the next. The
 * text itself is read each time, so that no entry is ever out of date.
 */
export class IgnoreFileCache {
  /** The one used last is the last. */
  readonly #files = new Map<string, IgnoreFile>();
  readonly #maxBytes: number;

  constructor(bytes: number = maxBytes) {
    this.#maxBytes = bytes;
  }

  get size(): number {
    return this.#files.size;
  }

  /** The rules of this text; undefined where they cost more than `maxCost`. */
  compile(text: Buffer, maxCost: number): IgnoreFile | undefined {
    const key = text.toString("latin1");
    const known = this.#files.get(key);
    const cost = known?.cost ?? costOf(text);
    if (cost > maxCost) return undefined;
    const file = known ?? new IgnoreFile(parseRules(text), cost);
    this.#files.delete(key);
    this.#files.set(key, file);
    if (known === undefined) this.#trim();
    return file;
  }

  /** Removes the files that were not used for longest; what a file takes grows while it is used. */
  #trim(): void {
    let bytes = 0;
    for (const [key, file] of this.#files) bytes += key.length + file.memory;
    for (const [key, file] of this.#files) {
      if (bytes <= this.#maxBytes) return;
      bytes -= key.length + file.memory;
      this.#files.delete(key);
    }
  }
}
