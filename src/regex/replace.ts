import type { WasmModule } from "../wasm/module.ts";
import { PatternError, type Regex, RegexEngineFailure, RegexRuntime } from "./regex-runtime.ts";
import { requireDefinedGroups, TemplateError } from "./template.ts";

/** The result has more bytes than it may, or than there was memory for. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}

export interface ReplaceJob {
  readonly engine: CompiledEngine;
  readonly pattern: string;
  readonly replacement: string;
  readonly body: Uint8Array;
  readonly maxBytes: number;
  /** Takes the body line by line, each with its "\n", and replaces every match or the first one in each. */
  readonly lines?: "every" | "first";
  /** Whether a replacement that names a group which the pattern does not have is an error, or puts nothing there. */
  readonly strict?: boolean;
}

/** The regex engine, compiled and metered. */
export interface CompiledEngine {
  readonly module: WasmModule;
  /** Most memory of an instance. It tells modules apart, which are other objects in each thread and for each job. */
  readonly bytes: number;
}

export interface Replaced {
  /** Absent when nothing changed. */
  readonly body?: Uint8Array;
  /** How many matches were replaced; only counted line by line. */
  readonly count: number;
}

/** The new body, or the failure with the name of its class, which an error that is posted loses. */
export type ReplaceReply = Replaced | { readonly failure: string; readonly message: string };

/** Replaces in one body after the other. */
export class Replacer {
  readonly #check: () => void;
  #engineBytes = 0;
  #machine: RegexRuntime | undefined;
  #mostMemory = Number.POSITIVE_INFINITY;

  /** `check` is called all along, and may throw. */
  constructor(check: () => void) {
    this.#check = check;
  }

  /** Throws `PatternError`, `TemplateError`, `EngineFailure` or `ResultTooLarge`, and what `check` throws. */
  replace(job: ReplaceJob): Replaced {
    const machine = this.#machineFor(job.engine);
    try {
      this.#mostMemory = Number.POSITIVE_INFINITY;
      const regex = machine.compile(job.pattern);
      if (job.strict) requireDefinedGroups(job.replacement, regex.groups());
      this.#mostMemory = enoughMemory(machine.bytes, job);
      return withinMemory(() => replaceWith(regex, job));
    } finally {
      machine.trimMemory();
    }
  }

  #machineFor({ module, bytes }: CompiledEngine): RegexRuntime {
    if (this.#machine === undefined || bytes !== this.#engineBytes) {
      this.#machine?.drop();
      this.#engineBytes = bytes;
      this.#machine = new RegexRuntime(module, (used) => this.#watch(used));
    }
    return this.#machine;
  }

  #watch(bytes: number): void {
    this.#check();
    if (bytes > this.#mostMemory) throw new ResultTooLarge();
  }
}

function replaceWith(regex: Regex, job: ReplaceJob): Replaced {
  const body = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.length);
  const { body: replaced, count } =
    job.lines === undefined
      ? { body: regex.replaceAll(body, job.replacement), count: 0 }
      : replaceInLines(regex, body, job);
  if (replaced.length > job.maxBytes) throw new ResultTooLarge();
  return replaced === body || replaced.equals(body) ? { count } : { body: replaced, count };
}

/** What the engine may take to match, beside as much again as it took until then, for the states of the pattern. */
const workBytes = 16 * 1024 * 1024;

/**
 * Memory past which the result must be larger than `maxBytes`, when `before` bytes are taken before the body goes in.
 * Rust starts a result with as much room as the body has and doubles that until it is enough; WebAssembly gives no
 * memory back, so each of these rooms may still be there.
 */
function enoughMemory(before: number, { body, maxBytes }: ReplaceJob): number {
  let enough = 2 * before + workBytes + body.length;
  for (let room = Math.max(body.length, 8); ; room *= 2) {
    enough += room;
    if (room >= maxBytes) return enough;
  }
}

function replaceInLines(
  regex: Regex,
  body: Buffer,
  { lines, replacement, maxBytes }: ReplaceJob,
): { body: Buffer; count: number } {
  const pieces: Buffer[] = [];
  let [kept, length, count] = [0, 0, 0];
  for (let start = 0, end = 0; start < body.length; start = end) {
    const newline = body.indexOf(0x0a, start);
    end = newline < 0 ? body.length : newline + 1;
    if (!regex.isMatch(body, start, end)) continue;
    const line = body.subarray(start, end);
    count += lines === "first" ? 1 : countMatches(regex, line);
    const replaced =
      lines === "first" ? regex.replaceFirst(line, replacement) : regex.replaceAll(line, replacement);
    pieces.push(body.subarray(kept, start), replaced);
    kept = end;
    length += replaced.length;
    if (length > maxBytes) throw new ResultTooLarge();
  }
  return { body: count === 0 ? body : Buffer.concat([...pieces, body.subarray(kept)]), count };
}

/** One byte more stands behind each match. */
const countMatches = (regex: Regex, line: Buffer): number =>
  regex.replaceAll(line, "${0}.").length - line.length;

/** The pattern has got its memory by then, so it is the result that there was not enough for. */
function withinMemory<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof RegexEngineFailure ? new ResultTooLarge() : error;
  }
}

/** What `replacer` makes of a job, as a reply that can be posted. */
export function replyTo(job: ReplaceJob, replacer: Replacer): ReplaceReply {
  try {
    return replacer.replace(job);
  } catch (error) {
    const { name, message } = error as Error;
    return { failure: name, message };
  }
}

/** What a posted reply says; throws as `Replacer.replace` does. */
export function readReply(reply: ReplaceReply): Replaced {
  if (!("failure" in reply)) return reply;
  const failures = [PatternError, TemplateError, RegexEngineFailure, ResultTooLarge];
  const failure = failures.find(({ name }) => name === reply.failure);
  throw new (failure ?? Error)(reply.message);
}
