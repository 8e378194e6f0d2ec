import { costOf, IgnoreFile } from "./ignore-file.ts";
import { parseRules } from "./rule.ts";

/** Maximum estimated bytes of all cached ignore files together. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Caches compiled ignore files by their text, so that the work of one search, including the automaton states
 * that names have reached, serves the next. The text itself is read each time, so that no entry is ever out
 * of date.
 */
export class IgnoreFileCache {
  /** The cached files, the most recently used one last. */
  readonly #files = new Map<string, IgnoreFile>();
  readonly #maxBytes: number;

  constructor(bytes: number = maxBytes) {
    this.#maxBytes = bytes;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Returns the compiled rules of this text, or `undefined` if they cost more than `maxCost`. */
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

  /** Removes the least recently used files. The memory of a file grows while it is used. */
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
