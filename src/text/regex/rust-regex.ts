/**
 * Runs the regular expressions of callers: Rust's dialect, in linear time (coder §7).
 *
 * Linear time may still be long: ten mebibytes against a pattern of a million states take minutes. So a
 * caller's pattern runs over a body of unbounded size in a thread, in a metered engine, which the deadline
 * interrupts.
 */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
// @ts-expect-error: the package declares the exports of an instance; importing gives the file.
import asset from "../../../node_modules/rregex/lib/rregex.wasm";
import { refuse } from "../../base/errors.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { Pool, ThreadEnded } from "../../base/threads/pool.ts";
import { canSpawn } from "../../base/threads/spawn.ts";
import { compileModule, type WasmModule } from "../../base/wasm/module.ts";
import type { InterruptHandler } from "./instance.ts";
import { limitMemory } from "./memory-limit.ts";
import { meter } from "./metering.ts";
import {
  type Pattern,
  PatternError,
  type Regex,
  RegexEngineFailure,
  RegexRuntime,
  toSource,
} from "./regex-runtime.ts";
import {
  type CompiledEngine,
  type Replaced,
  type ReplaceJob,
  type ReplaceReply,
  Replacer,
  ResultTooLarge,
  readReply,
  TooManyMatches,
} from "./replace.ts";
import { ForeignTemplateError, TemplateError } from "./template.ts";
import type { ReplacedRange } from "./traced-replace.ts";

/** A pattern, and the template that replaces its matches. */
export interface Replacement extends Pattern {
  /**
   * The template, in which `$1`, `${1}`, `$name`, `${name}`, `$0` and `$$` are expanded as by Rust's crate
   * `regex`.
   */
  readonly replacement: string;
  /**
   * Whether a group that the pattern does not have is refused (bad-pattern), instead of being an empty text.
   * Default: false.
   */
  readonly strict?: boolean;
  /** Whether line ends match as "\n" and are kept (`ReplaceJob.keepsLineEnds`). */
  readonly keepsLineEnds?: boolean;
  /** Whether a reference in the syntax of other languages is refused (bad-pattern). Default: false. */
  readonly refusesForeign?: boolean;
}

export interface LineReplacement extends Replacement {
  readonly lines: "every" | "first";
}

export interface ReplacedLines {
  /** The new body, or the same Buffer if nothing changed. */
  readonly body: Buffer;
  readonly count: number;
}

export interface TracedBody extends ReplacedLines {
  /** The places of the matches, or `undefined` if they are too many to mark. */
  readonly ranges: readonly ReplacedRange[] | undefined;
}

export interface ReplaceLimits {
  /** The path of the file as the caller sent it, for error sentences. */
  readonly path: string;
  /** Maximum size of the result, in bytes. */
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

export interface RegexEngine {
  /** The engine's metered WebAssembly, for threads to instantiate. */
  readonly module: WasmModule;
  /** A runtime that compiles and matches in this thread, without interruption. */
  readonly runtime: RegexRuntime;
  /**
   * Compiles a pattern in this thread. Returns `undefined` if that takes long. Throws like
   * `RegexRuntime.compile`.
   */
  compileQuickly(source: string): Regex | undefined;
  /** Opens a separate runtime, whose calls `onInterrupt` may end. It caches `maxCompiled` patterns. */
  openRuntime(onInterrupt: InterruptHandler, maxCompiled?: number): RegexRuntime;
  /**
   * Returns `body` (valid UTF-8) with every match replaced like Rust's `Regex::replace_all` does, or the same
   * Buffer if nothing changes. Throws bad-input for an invalid pattern, too-large past `maxBytes`, timeout at
   * the deadline.
   */
  replaceAll(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<Buffer>;
  /**
   * Like `replaceAll`, but also returns the number of matches and their places, which takes up to three times
   * as long.
   */
  replaceTraced(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<TracedBody>;
  /**
   * Like `replaceAll`, but line by line, each with its "\n", for every match or the first in each line. Also
   * returns the number of replacements.
   */
  replaceInLines(body: Buffer, replacement: LineReplacement, limits: ReplaceLimits): Promise<ReplacedLines>;
  /** Ends the threads that run the engine. */
  close(): Promise<void>;
}

type AnyReplacement = Replacement & Partial<Pick<LineReplacement, "lines"> & Pick<ReplaceJob, "traced">>;

/** Maximum interruptions while a pattern is compiled in this thread. They take some 15 ms. */
export const quickInterruptions = 150;

/** Ends the compilation of a pattern in this thread. */
class CompilationTooLong extends Error {}

/** Maximum bodies in work at once; further ones wait. */
const poolSize = 2;

/** Creates an engine that loads WebAssembly, and starts threads if allowed, only when first used. */
export function createRegexEngine({ threads = true } = {}): RegexEngine {
  return new LazyEngine(threads && canSpawn());
}

class LazyEngine implements RegexEngine {
  #metered: Uint8Array | undefined;
  #engine: CompiledEngine | undefined;
  #runtime: RegexRuntime | undefined;
  /** The interruptions after which a call of the runtime ends. */
  #interruptions = Number.POSITIVE_INFINITY;
  readonly #hasThreads: boolean;
  readonly #pool = new Pool<ReplaceJob, ReplaceReply>({
    program: "text/regex",
    size: poolSize,
    depth: 1,
  });

  constructor(hasThreads: boolean) {
    this.#hasThreads = hasThreads;
  }

  get module(): WasmModule {
    return this.#engineWith(searchBytes).module;
  }

  get runtime(): RegexRuntime {
    this.#runtime ??= new RegexRuntime(this.module, () => {
      if (--this.#interruptions < 0) throw new CompilationTooLong();
    });
    return this.#runtime;
  }

  compileQuickly(source: string): Regex | undefined {
    this.#interruptions = quickInterruptions;
    try {
      return this.runtime.compile(source);
    } catch (error) {
      if (error instanceof CompilationTooLong) return undefined;
      throw error;
    } finally {
      this.#interruptions = Number.POSITIVE_INFINITY;
    }
  }

  openRuntime(onInterrupt: InterruptHandler, maxCompiled?: number): RegexRuntime {
    return new RegexRuntime(this.module, onInterrupt, maxCompiled);
  }

  async replaceAll(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<Buffer> {
    return (await this.#replace(body, replacement, limits)).body;
  }

  async replaceTraced(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<TracedBody> {
    return await this.#replace(body, { ...replacement, traced: true }, limits);
  }

  replaceInLines(body: Buffer, replacement: LineReplacement, limits: ReplaceLimits): Promise<ReplacedLines> {
    return this.#replace(body, replacement, limits);
  }

  async #replace(
    body: Buffer,
    { replacement, lines, ...options }: AnyReplacement,
    limits: ReplaceLimits,
  ): Promise<TracedBody> {
    limits.deadline.check();
    const { maxBytes } = limits;
    const {
      strict = false,
      traced = false,
      keepsLineEnds = false,
      refusesForeign = false,
      ...source
    } = options;
    try {
      // Compiling the engine takes 40 ms, and gets a turn of the event loop to itself.
      if (this.#engine === undefined) await setImmediate();
      limits.deadline.signal.throwIfAborted();
      const pattern = toSource(source);
      const job = {
        // The body, plus the result while it grows: Rust doubles it, and holds the old one until it is
        // copied.
        engine: this.#engineWith(engineBytesAtMost + 5 * maxBytes),
        pattern,
        replacement,
        body: share(body),
        maxBytes,
        strict,
        traced,
        keepsLineEnds,
        refusesForeign,
        ...(lines && { lines }),
      };
      const { body: replaced, count, ranges } = await this.#run(job, limits.deadline);
      if (replaced === undefined) return { body, count, ranges };
      return { body: Buffer.from(replaced.buffer, replaced.byteOffset, replaced.length), count, ranges };
    } catch (error) {
      if (error instanceof ResultTooLarge) throw refuse.replacedTooLarge(limits.path, maxBytes);
      if (error instanceof TooManyMatches) throw refuse.mixedLineEnds(limits.path);
      if (error instanceof ForeignTemplateError) throw refuse.foreignTemplate(replacement, error.message);
      if (error instanceof TemplateError) throw refuse.badTemplate(replacement, error.message);
      throw refusalOfPattern(error, source.pattern);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /**
   * Runs the job in a thread, and once more in a new one if that is lost. Without threads, runs it in this
   * one.
   */
  async #run(job: ReplaceJob, deadline: Deadline): Promise<Replaced> {
    if (!this.#hasThreads) return new Replacer(() => deadline.check()).replace(job);
    try {
      return await this.#runInThread(job, deadline);
    } catch (error) {
      if (error instanceof ThreadEnded) return this.#runInThread(job, deadline);
      throw error;
    }
  }

  /** Runs the job in a thread, which the deadline ends. */
  async #runInThread(job: ReplaceJob, deadline: Deadline): Promise<Replaced> {
    const { reply, cancel } = this.#pool.run(job);
    deadline.signal.addEventListener("abort", cancel, { once: true });
    try {
      return readReply(await reply);
    } catch (error) {
      // The signal decides, not the clock: when the timer fires, the clock may still show some time left.
      deadline.signal.throwIfAborted();
      throw error;
    } finally {
      deadline.signal.removeEventListener("abort", cancel);
    }
  }

  /**
   * Returns an engine with a memory limit of at least `bytes`. One engine serves searches and all but very
   * large results.
   */
  #engineWith(bytes: number): CompiledEngine {
    if (this.#engine === undefined || this.#engine.bytes < bytes) {
      const most = Math.max(bytes, searchBytes);
      this.#metered ??= meteredEngine();
      this.#engine = { module: compileModule(limitMemory(this.#metered, pagesOf(most))), bytes: most };
    }
    return this.#engine;
  }
}

/** Copies bytes to shared memory, which a message to a thread does not copy again. */
function share(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

/** Converts an error of a caller's pattern to a refusal. Returns any other error unchanged. */
export function refusalOfPattern(error: unknown, pattern: string): unknown {
  if (error instanceof PatternError) return refuse.badPattern(pattern, error.message);
  if (error instanceof RegexEngineFailure) return refuse.patternTooLarge(pattern, searchBytes);
  return error;
}

const mebibyte = 1024 * 1024;
/**
 * Maximum memory of the engine for a pattern. It refuses one over 10 MiB by itself, but needs more to find
 * that out.
 */
const engineBytesAtMost = 96 * mebibyte;
/** Memory of an instance that searches: for the engine itself, and for a line. */
const searchBytes = 2 * engineBytesAtMost;

/** Returns the number of 64 KiB pages, at most 65,536. */
const pagesOf = (bytes: number): number => Math.min(Math.ceil(bytes / 65_536), 65_536);

/** Set by builds that contain the engine metered. */
declare const ENGINE_IS_METERED: boolean | undefined;

const meteredEngine = (): Uint8Array =>
  typeof ENGINE_IS_METERED === "undefined" ? meter(engineBytes()) : engineBytes();

/**
 * Loads the engine. Under Bun, and in the executable, the import is a path; in the bundle for Node it is the
 * bytes.
 */
function engineBytes(): Uint8Array {
  const file: unknown = asset;
  return typeof file === "string" ? readFileSync(file) : (file as Uint8Array);
}
