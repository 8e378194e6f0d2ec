/**
 * Calls the Rust engine in WebAssembly on bytes. A runtime holds one instance at a time. It drops an instance
 * that trapped (out of memory, an assertion of the engine) or has grown large, and compiles patterns again on
 * their next use.
 */

import { collectSoon } from "../../base/wasm/collect.ts";
import type { WasmModule } from "../../base/wasm/module.ts";
import { countEachMatch, type MatchVisitor, visitEachMatch } from "./each-match.ts";
import { type Hir, parseHir, type RawHir } from "./hir.ts";
import { Instance, Interrupted, type InterruptHandler } from "./instance.ts";
import type { GroupNames } from "./template.ts";

/** Thrown for an invalid pattern. The message is the engine's own, on one line. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Thrown if the engine fails on a valid pattern. The only known cause is lack of memory. */
export class RegexEngineFailure extends Error {
  override readonly name = "RegexEngineFailure";
}

/** A pattern and its options, from a caller. */
export interface Pattern {
  readonly pattern: string;
  /** Whether the pattern starts with the flag `i` set, like Rust's `case_insensitive(true)`. */
  readonly ignoreCase: boolean;
  /** Whether the pattern starts with the flag `s` set, like Rust's `dot_matches_new_line(true)`. */
  readonly dotMatchesNewline?: boolean;
}

/**
 * Maximum length of a caller's pattern in UTF-16 units. Compiling one takes up to a few tenths of a second.
 */
const maxPatternUnits = 32 * 1024;

/**
 * Converts a caller's pattern to a source for `compile`. Throws a `PatternError` if it is too long or not
 * well-formed.
 */
export function toSource({ pattern, ignoreCase, dotMatchesNewline = false }: Pattern): string {
  if (pattern.length > maxPatternUnits) {
    throw new PatternError(`it has ${pattern.length} characters and may have at most ${maxPatternUnits}`);
  }
  if (!pattern.isWellFormed()) throw new PatternError("it holds half of a surrogate pair");
  const flags = `${ignoreCase ? "i" : ""}${dotMatchesNewline ? "s" : ""}`;
  return flags === "" ? pattern : `(?${flags})${pattern}`;
}

/** Returns a pattern that matches exactly this text. */
export const escapePattern = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&");

/** A part of a text, and the maximum number of matches to visit there. */
export interface MatchSpan {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** A compiled pattern. Texts are valid UTF-8, and offsets are in bytes. */
export interface Regex {
  /**
   * Returns the start of the leftmost match in `text[from, to)`, counted from `from`, or -1. `^` and `$`
   * match at the ends of the slice.
   */
  find(text: Buffer, from: number, to: number): number;
  isMatch(text: Buffer, from: number, to: number): boolean;
  /**
   * Calls `visit` with the start and the end of each of the first `limit` matches in `text[from, to)`,
   * counted from `from`. The text must hold no NUL byte.
   */
  visitEach(text: Buffer, span: MatchSpan, visit: MatchVisitor): void;
  /** Returns the number of matches. The text must hold no NUL byte. */
  countEach(text: Buffer, from: number, to: number): number;
  /**
   * Returns `text` with every match replaced, like Rust's `Regex::replace_all` does, or the same Buffer if
   * nothing changes.
   */
  replaceAll(text: Buffer, replacement: string): Buffer;
  /** Like `replaceAll`, but replaces only the first match. */
  replaceFirst(text: Buffer, replacement: string): Buffer;
  /** Returns the pattern as the engine has parsed it. */
  syntax(): Hir;
  /** Returns its groups by number; 0 is the whole match. */
  groups(): GroupNames;
}

/**
 * Size of an instance's memory, in bytes, past which it compiles no further pattern. Two of the largest
 * patterns fit side by side.
 */
const enoughBytes = 64 * 1024 * 1024;

/**
 * Size past which `trimMemory` drops an instance, in bytes. Dozens of common patterns need less, and memory
 * never shrinks.
 */
const keptBytes = 16 * 1024 * 1024;

/** Default maximum of patterns in a runtime's cache. It compiles an evicted one again on its next use. */
const defaultMaxCompiled = 16;

export class RegexRuntime {
  readonly #module: WasmModule;
  readonly #onInterrupt: InterruptHandler;
  readonly #maxCompiled: number;
  readonly #compiled = new Map<string, CompiledRegex>();
  #instance: Instance | undefined;
  #instances = 0;

  constructor(
    module: WasmModule,
    onInterrupt: InterruptHandler = () => {},
    maxCompiled = defaultMaxCompiled,
  ) {
    this.#module = module;
    this.#onInterrupt = onInterrupt;
    this.#maxCompiled = maxCompiled;
  }

  /** Compiles the pattern, or returns it from the cache. Throws a `PatternError`. */
  compile(pattern: string): Regex {
    const known = this.#compiled.get(pattern);
    this.#compiled.delete(pattern);
    const regex = known ?? new CompiledRegex(this, pattern);
    this.#prepare(regex);
    this.#compiled.set(pattern, regex);
    if (this.#compiled.size > this.#maxCompiled) this.#dropOldest();
    return regex;
  }

  /** The instance to compile a new pattern in. */
  get instance(): Instance {
    if (this.bytes > enoughBytes) this.drop();
    this.#instance ??= new Instance(this.#module, this.#onInterrupt, ++this.#instances);
    return this.#instance;
  }

  /** The memory of the instance in bytes, 0 without one. */
  get bytes(): number {
    return this.#instance?.bytes ?? 0;
  }

  /** Returns the current instance if it has this number. */
  numbered(number: number): Instance | undefined {
    return this.#instance?.number === number ? this.#instance : undefined;
  }

  /**
   * Drops the instance and schedules the release of its memory. The next use of any pattern creates another.
   */
  drop(): void {
    if (this.#instance === undefined) return;
    this.#instance = undefined;
    collectSoon();
  }

  /** Drops an instance that has grown large. Call it between two jobs, which share few patterns. */
  trimMemory(): void {
    if (this.bytes > keptBytes) this.drop();
  }

  /**
   * Drops an instance that has grown very large. Call it between two texts: the engine's allocator reuses
   * little of the memory of texts of different sizes.
   */
  trimOften(): void {
    if (this.bytes > enoughBytes) this.drop();
  }

  /** Prepares a pattern. A refused one leaves nothing, but may have taken much memory. */
  #prepare(regex: CompiledRegex): void {
    try {
      regex.prepare();
    } catch (error) {
      this.trimMemory();
      throw error;
    }
  }

  #dropOldest(): void {
    const [pattern, regex] = this.#compiled.entries().next().value as [string, CompiledRegex];
    this.#compiled.delete(pattern);
    regex.release();
  }
}

class CompiledRegex implements Regex {
  readonly #runtime: RegexRuntime;
  readonly #pattern: Buffer;
  /**
   * The number of the instance that it is compiled in. A reference to the instance would keep the memory of a
   * dropped one.
   */
  #instance = 0;
  #pointer = 0;

  constructor(runtime: RegexRuntime, pattern: string) {
    this.#runtime = runtime;
    this.#pattern = Buffer.from(pattern);
  }

  find(text: Buffer, from: number, to: number): number {
    return this.#call((instance) => instance.find(this.#pointer, instance.pass(text, from, to), to - from));
  }

  isMatch(text: Buffer, from: number, to: number): boolean {
    return this.#call(
      (instance) =>
        instance.exports.rregex_isMatch(this.#pointer, instance.pass(text, from, to), to - from) !== 0,
    );
  }

  visitEach(text: Buffer, { from, to, limit }: MatchSpan, visit: MatchVisitor): void {
    this.#call((instance) =>
      visitEachMatch({ instance, pattern: this.#pointer, text, from, to }, limit, visit),
    );
    this.#runtime.trimOften();
  }

  countEach(text: Buffer, from: number, to: number): number {
    const count = this.#call((instance) =>
      countEachMatch({ instance, pattern: this.#pointer, text, from, to }),
    );
    this.#runtime.trimOften();
    return count;
  }

  replaceAll(text: Buffer, replacement: string): Buffer {
    return this.#replace("rregex_replaceAll", text, replacement);
  }

  replaceFirst(text: Buffer, replacement: string): Buffer {
    return this.#replace("rregex_replace", text, replacement);
  }

  #replace(how: "rregex_replaceAll" | "rregex_replace", text: Buffer, replacement: string): Buffer {
    return this.#call((instance) => {
      const template = Buffer.from(replacement);
      const [start, bytes] = instance.exports[how](
        this.#pointer,
        instance.pass(text, 0, text.length),
        text.length,
        instance.pass(template, 0, template.length),
        template.length,
      );
      const [from, to] = [start >>> 0, (start >>> 0) + bytes];
      const isSame = bytes === text.length && instance.memory.subarray(from, to).equals(text);
      const replaced = isSame ? text : Buffer.from(instance.exports.memory.buffer.slice(from, to));
      instance.exports.__wbindgen_free(start, bytes, 1);
      return replaced;
    });
  }

  syntax(): Hir {
    return this.#call((instance) => {
      const [index, error, failed] = instance.exports.rregex_syntax(this.#pointer);
      if (failed !== 0) throw instance.take(error);
      return parseHir(instance.take(index) as RawHir);
    });
  }

  groups(): GroupNames {
    return this.#call((instance) => {
      const [start, count] = instance.exports.rregex_captureNames(this.#pointer);
      return instance.takeAll(start, count) as GroupNames;
    });
  }

  /**
   * Compiles the pattern in the runtime's current instance, unless it is there already. Throws a
   * `PatternError`.
   */
  prepare(): Instance {
    const held = this.#runtime.numbered(this.#instance);
    if (held !== undefined) return held;
    const { instance } = this.#runtime;
    this.#pointer = this.#compile(instance);
    this.#instance = instance.number;
    return instance;
  }

  /** Frees the pattern in the engine's memory. */
  release(): void {
    this.#runtime.numbered(this.#instance)?.exports.__wbg_rregex_free(this.#pointer, 0);
    this.#instance = 0;
  }

  #compile(instance: Instance): number {
    const [pointer, error, failed] = this.#guard(() => {
      instance.makeRoom();
      return instance.exports.rregex_new(
        instance.pass(this.#pattern, 0, this.#pattern.length),
        this.#pattern.length,
      );
    });
    if (failed === 0) return pointer >>> 0;
    const { message } = instance.take(error) as Error;
    throw new PatternError(problem(message));
  }

  #call<T>(use: (instance: Instance) => T): T {
    const instance = this.prepare();
    return this.#guard(() => use(instance));
  }

  /** Drops the instance after an exception from the engine, since its memory may be corrupt. */
  #guard<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.#runtime.drop();
      if (error instanceof Interrupted) throw error.reason;
      throw new RegexEngineFailure(String(error));
    }
  }
}

/**
 * Returns the last part of the engine's message, after `error: `. The part before it draws the pattern with a
 * caret.
 */
function problem(message: string): string {
  const at = message.lastIndexOf("error: ");
  return (at < 0 ? message : message.slice(at + "error: ".length))
    .replaceAll("\n", " ")
    .trim()
    .replace(/\.$/, "");
}
