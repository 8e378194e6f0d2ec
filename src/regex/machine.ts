/**
 * The Rust engine in WebAssembly, called on bytes. A machine holds one instance at a time: when one trapped (out of
 * memory, an assertion of the engine) or has grown large it is dropped, and what was compiled in it is compiled
 * again when next used.
 */
import { type Hir, parseHir, type RawHir } from "./hir.ts";
import { type EngineExports, importsFor } from "./imports.ts";
import { instantiate, type WasmModule } from "./webassembly.ts";

/** The pattern is not valid; the message is the engine's own, on one line. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** The engine gave up on a valid pattern: as far as is known, only for want of memory. */
export class EngineFailure extends Error {
  override readonly name = "EngineFailure";
}

/** A pattern of a caller. */
export interface Pattern {
  readonly pattern: string;
  /** As with Rust's `case_insensitive(true)`: the pattern starts with the flag `i` set. */
  readonly ignoreCase: boolean;
}

/** Longest pattern of a caller in UTF-16 units; compiling one takes up to a few tenths of a second. */
const longestPattern = 32 * 1024;

/** A caller's pattern as one text for `compile`. Throws a `PatternError` when it is too long or not well-formed. */
export function spellOut({ pattern, ignoreCase }: Pattern): string {
  if (pattern.length > longestPattern) {
    throw new PatternError(`it has ${pattern.length} characters and may have at most ${longestPattern}`);
  }
  if (!pattern.isWellFormed()) throw new PatternError("it holds half of a surrogate pair");
  return ignoreCase ? `(?i)${pattern}` : pattern;
}

/** A pattern that matches exactly this text: a backslash before each character that means something. */
export const escapePattern = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&");

/** A compiled pattern. Texts are valid UTF-8, offsets are bytes. */
export interface Regex {
  /** Start of the leftmost match in `text[from, to)`, counted from `from`, or -1. The text ends at the slice's ends. */
  find(text: Buffer, from: number, to: number): number;
  isMatch(text: Buffer, from: number, to: number): boolean;
  /** `text` with every match replaced, as Rust's `Regex::replace_all` does. */
  replaceAll(text: Buffer, replacement: string): Buffer;
  /** The same with the first match only. */
  replaceFirst(text: Buffer, replacement: string): Buffer;
  /** The pattern as the engine understood it. */
  syntax(): Hir;
}

/** Past this much memory an instance is not given another pattern: WebAssembly never gives memory back. */
const enoughBytes = 64 * 1024 * 1024;

/** Compiled patterns that a machine keeps. A dropped one is compiled again when used. */
const keptPatterns = 16;

export class Machine {
  readonly #module: WasmModule;
  readonly #compiled = new Map<string, CompiledRegex>();
  #instance: Instance | undefined;

  constructor(module: WasmModule) {
    this.#module = module;
  }

  /** The pattern, compiled, or as it was compiled before. Throws a `PatternError`. */
  compile(pattern: string): Regex {
    const known = this.#compiled.get(pattern);
    this.#compiled.delete(pattern);
    const regex = known ?? new CompiledRegex(this, pattern);
    regex.prepare();
    this.#compiled.set(pattern, regex);
    if (this.#compiled.size > keptPatterns) this.#dropOldest();
    return regex;
  }

  /** The instance to compile a new pattern in. */
  get instance(): Instance {
    if (this.#instance !== undefined && this.#instance.bytes > enoughBytes) this.drop();
    this.#instance ??= new Instance(this.#module);
    return this.#instance;
  }

  /** Whether `instance` is still the one to use. */
  holds(instance: Instance): boolean {
    return this.#instance === instance;
  }

  /** Forgets the instance; the next use of any pattern makes another. */
  drop(): void {
    this.#instance = undefined;
  }

  #dropOldest(): void {
    const [pattern, regex] = this.#compiled.entries().next().value as [string, CompiledRegex];
    this.#compiled.delete(pattern);
    regex.release();
  }
}

/** One instance of the module, and how texts and objects go in and out of it. */
class Instance {
  readonly exports: EngineExports;
  #memory: Buffer;

  constructor(module: WasmModule) {
    const imports = importsFor(module, () => this.exports);
    this.exports = instantiate(module, imports) as EngineExports;
    this.exports.__wbindgen_start();
    this.#memory = Buffer.from(this.exports.memory.buffer);
  }

  get bytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Copies `text[from, to)` in, for a callee that frees it. */
  pass(text: Buffer, from: number, to: number): number {
    const pointer = this.exports.__wbindgen_malloc(to - from, 1) >>> 0;
    text.copy(this.memory, pointer, from, to);
    return pointer;
  }

  /** The JavaScript value that the engine left at `index`. */
  take(index: number): unknown {
    const value: unknown = this.exports.__wbindgen_export_2.get(index);
    this.exports.__externref_table_dealloc(index);
    return value;
  }

  /** A view of the memory as it is now: growing detaches the one before. */
  get memory(): Buffer {
    if (this.#memory.buffer !== this.exports.memory.buffer)
      this.#memory = Buffer.from(this.exports.memory.buffer);
    return this.#memory;
  }
}

class CompiledRegex implements Regex {
  readonly #machine: Machine;
  readonly #pattern: Buffer;
  #instance: Instance | undefined;
  #pointer = 0;

  constructor(machine: Machine, pattern: string) {
    this.#machine = machine;
    this.#pattern = Buffer.from(pattern);
  }

  find(text: Buffer, from: number, to: number): number {
    const match = this.#call((instance) => {
      const [index, , failed] = instance.exports.rregex_find(
        this.#pointer,
        instance.pass(text, from, to),
        to - from,
      );
      if (failed !== 0) throw new Error("find failed");
      return instance.take(index) as { start: number } | undefined;
    });
    return match === undefined ? -1 : match.start;
  }

  isMatch(text: Buffer, from: number, to: number): boolean {
    return this.#call(
      (instance) =>
        instance.exports.rregex_isMatch(this.#pointer, instance.pass(text, from, to), to - from) !== 0,
    );
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
      const replaced = Buffer.from(instance.memory.subarray(start >>> 0, (start >>> 0) + bytes));
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

  /** Compiles the pattern in the machine's instance, unless it is there. Throws a `PatternError`. */
  prepare(): Instance {
    if (this.#instance !== undefined && this.#machine.holds(this.#instance)) return this.#instance;
    const { instance } = this.#machine;
    this.#pointer = this.#compile(instance);
    this.#instance = instance;
    return instance;
  }

  /** Gives the engine's memory back. */
  release(): void {
    if (this.#instance !== undefined && this.#machine.holds(this.#instance)) {
      this.#instance.exports.__wbg_rregex_free(this.#pointer, 0);
    }
    this.#instance = undefined;
  }

  #compile(instance: Instance): number {
    const [pointer, error, failed] = this.#guard(() =>
      instance.exports.rregex_new(
        instance.pass(this.#pattern, 0, this.#pattern.length),
        this.#pattern.length,
      ),
    );
    if (failed === 0) return pointer >>> 0;
    const { message } = instance.take(error) as Error;
    throw new PatternError(problem(message));
  }

  #call<T>(use: (instance: Instance) => T): T {
    const instance = this.prepare();
    return this.#guard(() => use(instance));
  }

  /** After an exception out of the engine its memory cannot be trusted. */
  #guard<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.#machine.drop();
      throw new EngineFailure(String(error));
    }
  }
}

/** The engine draws the pattern with a caret below it and ends with `error: …`; that end says it. */
function problem(message: string): string {
  const at = message.lastIndexOf("error: ");
  return (at < 0 ? message : message.slice(at + "error: ".length))
    .replaceAll("\n", " ")
    .trim()
    .replace(/\.$/, "");
}
