/** Patterns for single lines of jobs' outputs, which are compiled and matched in the main thread. */
import { isUtf8 } from "node:buffer";
import { createTurnSlice } from "../base/scheduling/time-slice.ts";
import { type Regex, type RegexRuntime, toSource } from "../text/regex/regex-runtime.ts";
import { quickInterruptions, type RegexEngine, refusalOfPattern } from "../text/regex/rust-regex.ts";
import { refuseShell } from "./shell-errors.ts";

/** A compiled pattern for single lines. */
export interface LinePattern extends Disposable {
  /** Returns the byte position of the match in the line, or -1. Throws a refusal if that takes too long. */
  find(line: Buffer): number;
}

/** Maximum milliseconds for one line of at most 128 KiB, which block a thread of the worker. */
const lineMilliseconds = 10;
/**
 * Minimum interruptions of the engine, each after some thousand steps, for a line that counts as slow. After
 * fewer, other programs had the processor.
 */
const minInterruptions = 50;

/** The slice of all calls that read outputs: a line or the end of a job lets all go on that wait for it. */
export const outputSlice = createTurnSlice();

/** Maximum patterns that stay compiled, for calls that wait at the same time. */
const maxCompiled = 128;

/**
 * Compiles patterns. All of them share one memory of the engine: past eight memories in a process, Bun copies
 * each one that grows, and a line took seconds.
 */
export class LinePatterns {
  readonly #regex: RegexEngine;
  #runtime: RegexRuntime | undefined;
  #open = 0;
  /** Runs at each interruption of the engine, and may throw. */
  #check: () => void = () => {};

  constructor(regex: RegexEngine) {
    this.#regex = regex;
  }

  /** Compiles a pattern in Rust's dialect. Throws a refusal if it is invalid, or takes long. */
  compile(pattern: string): LinePattern {
    this.#compiled(pattern);
    this.#open++;
    return {
      find: (line) => this.#find(pattern, line),
      [Symbol.dispose]: () => this.#close(),
    };
  }

  /**
   * Like `compile`, in a later turn if others have used up this one: many calls may begin in it, and each
   * pattern may take some ten milliseconds.
   */
  async compileInTurn(pattern: string | undefined): Promise<LinePattern | undefined> {
    if (pattern === undefined) return undefined;
    if (outputSlice.isDue) await outputSlice.yieldIfDue();
    return this.compile(pattern);
  }

  /** Returns the pattern, compiled again if others have taken its place. */
  #compiled(pattern: string): Regex {
    this.#runtime ??= this.#regex.openRuntime(() => this.#check(), maxCompiled);
    let interruptions = 0;
    this.#check = () => {
      if (++interruptions > quickInterruptions) throw refuseShell.largePattern(pattern);
    };
    try {
      return this.#runtime.compile(toSource({ pattern, ignoreCase: false }));
    } catch (error) {
      throw refusalOfPattern(error, pattern);
    }
  }

  #find(pattern: string, line: Buffer): number {
    const compiled = this.#compiled(pattern);
    const text = isUtf8(line) ? line : Buffer.from(decode(line));
    const until = performance.now() + lineMilliseconds;
    let interruptions = 0;
    this.#check = () => {
      if (++interruptions >= minInterruptions && performance.now() > until)
        throw refuseShell.slowPattern(pattern, lineMilliseconds);
    };
    try {
      return compiled.find(text, 0, text.length);
    } catch (error) {
      throw refusalOfPattern(error, pattern);
    } finally {
      this.#runtime?.trimOften();
    }
  }

  #close(): void {
    if (--this.#open === 0) this.#runtime?.drop();
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
