/**
 * The regular expressions of callers: Rust's dialect, in linear time (coder §7).
 *
 * Linear is not short: ten mebibytes against a pattern of a million states take minutes. What a caller's pattern does
 * to a body of unbounded size therefore runs in a thread, in a metered engine, and is ended at the deadline.
 */
import { readFileSync } from "node:fs";
// @ts-expect-error: the package declares the exports of an instance; importing gives the file.
import asset from "../../node_modules/rregex/lib/rregex.wasm";
import { refuse } from "../errors.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { Pool, ThreadEnded } from "../threads/pool.ts";
import { canSpawn } from "../threads/spawn.ts";
import { compileModule, type WasmModule } from "../wasm/module.ts";
import type { InterruptHandler } from "./instance.ts";
import { limitMemory } from "./memory-limit.ts";
import { meter } from "./metering.ts";
import { type Pattern, PatternError, RegexEngineFailure, RegexRuntime, toSource } from "./regex-runtime.ts";
import {
  type CompiledEngine,
  type Replaced,
  type ReplaceJob,
  type ReplaceReply,
  Replacer,
  ResultTooLarge,
  readReply,
} from "./replace.ts";
import { TemplateError } from "./template.ts";

/** What `replaceAll` puts in the place of every match. */
export interface Replacement extends Pattern {
  /** `$1`, `${1}`, `$name`, `${name}`, `$0` and `$$` as Rust's crate `regex` expands them. */
  readonly replacement: string;
  /** Whether a group that the pattern does not have is refused (bad-pattern); otherwise it is empty. Default: false. */
  readonly strict?: boolean;
}

export interface LineReplacement extends Replacement {
  readonly lines: "every" | "first";
}

export interface ReplacedLines {
  /** The same Buffer when nothing changed. */
  readonly body: Buffer;
  readonly count: number;
}

/** What a replacement may take. */
export interface ReplaceLimits {
  /** The file, as the caller sent it, for error sentences. */
  readonly path: string;
  /** Most bytes of the result. */
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

export interface RegexEngine {
  /** The WebAssembly of the engine, metered, for threads to make instances of. */
  readonly module: WasmModule;
  /** Compiles and matches in this thread, for as long as that takes. */
  readonly machine: RegexRuntime;
  /** Another one, with a watch that ends what takes too long. */
  openMachine(watch: InterruptHandler): RegexRuntime;
  /**
   * `body` (valid UTF-8) with every match replaced as Rust's `Regex::replace_all` does; the same Buffer when that
   * changes nothing. Throws bad-input for an invalid pattern, too-large past `maxBytes`, timeout at the deadline.
   */
  replaceAll(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<Buffer>;
  /**
   * The same line by line, each with its "\n", for every match or the first in each line; with the number of
   * replacements.
   */
  replaceInLines(body: Buffer, replacement: LineReplacement, limits: ReplaceLimits): Promise<ReplacedLines>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/** Bodies that are worked on at once; further ones wait. */
const poolSize = 2;

/** An engine that loads WebAssembly, and starts threads if it may, only when first used. */
export function createRegexEngine({ threads = true } = {}): RegexEngine {
  return new LazyEngine(threads && canSpawn());
}

class LazyEngine implements RegexEngine {
  #metered: Uint8Array | undefined;
  #engine: CompiledEngine | undefined;
  #machine: RegexRuntime | undefined;
  readonly #hasThreads: boolean;
  readonly #pool = new Pool<ReplaceJob, ReplaceReply>({
    program: "regex",
    size: poolSize,
    depth: 1,
    data: () => null,
  });

  constructor(hasThreads: boolean) {
    this.#hasThreads = hasThreads;
  }

  get module(): WasmModule {
    return this.#engineWith(searchBytes).module;
  }

  get machine(): RegexRuntime {
    this.#machine ??= new RegexRuntime(this.module);
    return this.#machine;
  }

  openMachine(watch: InterruptHandler): RegexRuntime {
    return new RegexRuntime(this.module, watch);
  }

  async replaceAll(body: Buffer, replacement: Replacement, limits: ReplaceLimits): Promise<Buffer> {
    return (await this.#replace(body, replacement, limits)).body;
  }

  replaceInLines(body: Buffer, replacement: LineReplacement, limits: ReplaceLimits): Promise<ReplacedLines> {
    return this.#replace(body, replacement, limits);
  }

  async #replace(
    body: Buffer,
    { replacement, lines, strict = false, ...source }: Replacement & Partial<LineReplacement>,
    limits: ReplaceLimits,
  ): Promise<ReplacedLines> {
    limits.deadline.check();
    const { maxBytes } = limits;
    try {
      const pattern = toSource(source);
      const job = {
        // The body, and the result while it grows: Rust doubles it, and holds the old one meanwhile.
        engine: this.#engineWith(engineBytesAtMost + 5 * maxBytes),
        pattern,
        replacement,
        body: share(body),
        maxBytes,
        strict,
        ...(lines && { lines }),
      };
      const { body: replaced, count } = await this.#run(job, limits.deadline);
      if (replaced === undefined) return { body, count };
      return { body: Buffer.from(replaced.buffer, replaced.byteOffset, replaced.length), count };
    } catch (error) {
      if (error instanceof ResultTooLarge) throw refuse.replacedTooLarge(limits.path, maxBytes);
      if (error instanceof TemplateError) throw refuse.badTemplate(replacement, error.message);
      throw refusalOfPattern(error, source.pattern);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** In a thread, and once more in another when that is lost; here where there are none. */
  async #run(job: ReplaceJob, deadline: Deadline): Promise<Replaced> {
    if (!this.#hasThreads) return new Replacer(() => deadline.check()).replace(job);
    try {
      return await this.#runInThread(job, deadline);
    } catch (error) {
      if (error instanceof ThreadEnded) return this.#runInThread(job, deadline);
      throw error;
    }
  }

  /** In a thread, which is ended at the deadline. */
  async #runInThread(job: ReplaceJob, deadline: Deadline): Promise<Replaced> {
    const { reply, cancel: giveUp } = this.#pool.run(job);
    deadline.signal.addEventListener("abort", giveUp, { once: true });
    try {
      return readReply(await reply);
    } catch (error) {
      // The signal and not the clock, which may say that there is a little time left when the timer has fired.
      deadline.signal.throwIfAborted();
      throw error;
    } finally {
      deadline.signal.removeEventListener("abort", giveUp);
    }
  }

  /** The engine with at least so much memory at most: one for searches and all but uncommonly large results. */
  #engineWith(bytes: number): CompiledEngine {
    if (this.#engine === undefined || this.#engine.bytes < bytes) {
      const most = Math.max(bytes, searchBytes);
      this.#metered ??= meter(engineBytes());
      this.#engine = { module: compileModule(limitMemory(this.#metered, pagesOf(most))), bytes: most };
    }
    return this.#engine;
  }
}

/** A copy that is posted to threads without another. */
function share(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

/** What is wrong with a caller's pattern, as a refusal. Anything else as it is. */
export function refusalOfPattern(error: unknown, pattern: string): unknown {
  if (error instanceof PatternError) return refuse.badPattern(pattern, error.message);
  if (error instanceof RegexEngineFailure) return refuse.patternTooLarge(pattern);
  return error;
}

const mebibyte = 1024 * 1024;
/** Memory that the engine may take for a pattern: it refuses one over 10 MiB by itself, and needs more to see that. */
const engineBytesAtMost = 96 * mebibyte;
/** Memory of an instance that searches: the engine's own, and a line. */
const searchBytes = 2 * engineBytesAtMost;

/** Pages are 64 KiB; there are no more than 65,536. */
const pagesOf = (bytes: number): number => Math.min(Math.ceil(bytes / 65_536), 65_536);

/** Under Bun, also in the executable, the import is a path; in the bundle for Node it is the bytes. */
function engineBytes(): Uint8Array {
  const file: unknown = asset;
  return typeof file === "string" ? readFileSync(file) : (file as Uint8Array);
}
