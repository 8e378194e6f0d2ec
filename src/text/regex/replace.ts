import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { WasmModule } from "../../base/wasm/module.ts";
import { markedEncoding } from "../encodings/byte-order-mark.ts";
import {
  endingFor,
  hasCrlf,
  isPlainCrlf,
  linesFrom,
  withLineEnd,
  withoutReturns,
  withReturns,
} from "../encodings/line-ends.ts";
import { PatternError, type Regex, RegexEngineFailure, RegexRuntime } from "./regex-runtime.ts";
import { ForeignTemplateError, requireDefinedGroups, requireOwnSyntax, TemplateError } from "./template.ts";
import { namesLineFeed } from "./text-shape.ts";
import {
  markFor,
  type ReplacedRange,
  replaceTraced,
  replaceWithinLineEnds,
  type TracedReplacement,
} from "./traced-replace.ts";

/** Thrown if the result has more than `maxBytes`, or did not fit into memory. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}

/** Thrown if a text has mixed line ends, and too many matches for each to be marked. */
export class TooManyMatches extends Error {
  override readonly name = "TooManyMatches";
}

export interface ReplaceJob {
  readonly engine: CompiledEngine;
  readonly pattern: string;
  readonly replacement: string;
  readonly body: Uint8Array;
  readonly maxBytes: number;
  /** Works line by line, each with its "\n", and replaces every match or the first one in each. */
  readonly lines?: "every" | "first";
  /** Whether to count matches and return their places. */
  readonly traced?: boolean;
  /**
   * Whether it is an error if a replacement names a group that the pattern does not have; otherwise the group
   * is an empty text.
   */
  readonly strict?: boolean;
  /**
   * Whether the pattern matches a text without "\r" before "\n", and line ends are kept. Default: false, and
   * the pattern matches all bytes.
   */
  readonly keepsLineEnds?: boolean;
  /** Whether a reference in the syntax of other languages is an error. Default: false. */
  readonly refusesForeign?: boolean;
}

/** The regex engine, compiled and metered. */
export interface CompiledEngine {
  readonly module: WasmModule;
  /**
   * Maximum memory of an instance in bytes. It identifies the module, which is a different object in each
   * thread and for each job.
   */
  readonly bytes: number;
}

export interface Replaced {
  /** The new body, absent if nothing changed. */
  readonly body?: Uint8Array;
  /** The number of replacements, counted only when tracing or working line by line. */
  readonly count: number;
  /** The places of the matches when tracing, absent if they are too many to mark. */
  readonly ranges?: readonly ReplacedRange[];
}

/** The new body, or the failure with the name of its class, which an error loses in a message. */
export type ReplaceReply = Replaced | { readonly failure: string; readonly message: string };

/** Runs replacements, one after the other. */
export class Replacer {
  readonly #check: () => void;
  #engineBytes = 0;
  #runtime: RegexRuntime | undefined;
  #maxMemory = Number.POSITIVE_INFINITY;

  /** Creates a replacer. `check` runs regularly during the work, and may throw. */
  constructor(check: () => void) {
    this.#check = check;
  }

  /**
   * Runs a job. Throws `PatternError`, `TemplateError`, `ForeignTemplateError`, `EngineFailure`,
   * `ResultTooLarge`, `TooManyMatches`, or an error of `check`.
   */
  replace(job: ReplaceJob): Replaced {
    const runtime = this.#runtimeFor(job.engine);
    try {
      this.#maxMemory = Number.POSITIVE_INFINITY;
      const regex = runtime.compile(job.pattern);
      if (job.strict) requireDefinedGroups(job.replacement, regex.groups());
      if (job.refusesForeign) requireOwnSyntax(job.replacement, regex.groups());
      if (job.keepsLineEnds && job.lines === undefined && hasCrlf(bodyOf(job)))
        return this.#replaceWithinLineEnds(runtime, regex, job);
      return job.traced ? this.#trace(runtime, regex, job) : this.#replaceWithin(runtime, regex, job);
    } finally {
      runtime.trimMemory();
    }
  }

  /** Runs a job. Throws `ResultTooLarge` if the engine takes more memory than the result may need. */
  #replaceWithin(runtime: RegexRuntime, regex: Regex, job: ReplaceJob): Replaced {
    this.#maxMemory = enoughMemory(runtime.bytes, job);
    return withinMemory(() => replaceWith(regex, job));
  }

  /**
   * Runs a job with marks. If the marked text takes too much memory, it works without marks and only counts.
   */
  #trace(runtime: RegexRuntime, regex: Regex, job: ReplaceJob): Replaced {
    const body = bodyOf(job);
    const tracedJob = { ...job, maxBytes: tracedFactor * job.maxBytes };
    const mark = markFor(body, job.replacement);
    try {
      this.#maxMemory = enoughMemory(runtime.bytes, tracedJob);
      if (mark !== undefined)
        return withinMemory(() =>
          limitTraced(replaceTraced(regex, body, { replacement: job.replacement, mark }), job),
        );
    } catch (error) {
      if (!(error instanceof ResultTooLarge)) throw error;
    }
    const replaced = this.#replaceWithin(runtime, regex, job);
    this.#maxMemory = enoughMemory(runtime.bytes, tracedJob);
    return { ...replaced, count: withinMemory(() => countMatches(regex, body)) };
  }

  /**
   * Runs a job on a text with CRLF. If every line ends in CRLF, that text can do without marks. Throws
   * `TooManyMatches` if a text with mixed line ends cannot.
   */
  #replaceWithinLineEnds(runtime: RegexRuntime, regex: Regex, job: ReplaceJob): Replaced {
    const body = bodyOf(job);
    const text = runAtOnce(withoutReturns(body));
    const plain = { ...job, body: text, replacement: job.replacement.replaceAll("\r\n", "\n") };
    const isUniform = isPlainCrlf(body);
    if (!isUniform || job.traced) {
      const traced = this.#traceWithinLineEnds(runtime, regex, plain, body);
      if (traced !== undefined) return limitTraced(traced, job);
      if (!isUniform) throw new TooManyMatches();
    }
    const { body: replaced } = this.#replaceWithin(runtime, regex, plain);
    const count = job.traced ? withinMemory(() => countMatches(regex, text)) : 0;
    if (replaced === undefined) return { count };
    return limitTraced({ body: withReturns(Buffer.from(replaced)), count }, job);
  }

  /** Returns `undefined` if the marked text takes too much memory. */
  #traceWithinLineEnds(
    runtime: RegexRuntime,
    regex: Regex,
    { body: text, ...job }: ReplaceJob & { readonly body: Buffer },
    body: Buffer,
  ): (TracedReplacement & { readonly body: Buffer }) | undefined {
    const { replacement } = job;
    const mark = markFor(text, replacement);
    if (mark === undefined) return undefined;
    this.#maxMemory = enoughMemory(runtime.bytes, {
      ...job,
      body: text,
      maxBytes: tracedFactor * job.maxBytes,
    });
    try {
      return withinMemory(() => replaceWithinLineEnds(regex, body, { text, replacement, mark }));
    } catch (error) {
      if (error instanceof ResultTooLarge) return undefined;
      throw error;
    }
  }

  #runtimeFor({ module, bytes }: CompiledEngine): RegexRuntime {
    if (this.#runtime === undefined || bytes !== this.#engineBytes) {
      this.#runtime?.drop();
      this.#engineBytes = bytes;
      this.#runtime = new RegexRuntime(module, (used) => this.#checkMemory(used));
    }
    return this.#runtime;
  }

  #checkMemory(bytes: number): void {
    this.#check();
    if (bytes > this.#maxMemory) throw new ResultTooLarge();
  }
}

function replaceWith(regex: Regex, job: ReplaceJob): Replaced {
  const body = bodyOf(job);
  const { body: replaced, count } =
    job.lines === undefined
      ? { body: regex.replaceAll(body, job.replacement), count: 0 }
      : (job.keepsLineEnds ? replaceWithinLines : replaceInLines)(regex, body, job);
  if (replaced.length > job.maxBytes) throw new ResultTooLarge();
  return replaced === body || replaced.equals(body) ? { count } : { body: replaced, count };
}

function limitTraced<T extends { readonly body: Buffer }>(traced: T, { maxBytes }: ReplaceJob): T {
  if (traced.body.length > maxBytes) throw new ResultTooLarge();
  return traced;
}

const bodyOf = ({ body }: ReplaceJob): Buffer => Buffer.from(body.buffer, body.byteOffset, body.length);

/** Maximum size of a text with marks, as a multiple of the result's. */
const tracedFactor = 3;

/** Memory for matching, in bytes, besides twice the memory of compiling, for the states of the pattern. */
const workBytes = 16 * 1024 * 1024;

/**
 * Returns the memory past which the result must be larger than `maxBytes`, if `before` bytes are in use
 * before the body is passed. Rust allocates as much for a result as the body has, and doubles that until it
 * suffices. WebAssembly returns no memory, so each of these allocations may still be there.
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

/**
 * Like `replaceInLines`, but each line is matched without its ending, which is kept, so `$` matches there. A
 * pattern with a "\n" of its own matches that in place of either ending. The first line begins after a byte
 * order mark.
 */
function replaceWithinLines(
  regex: Regex,
  body: Buffer,
  { lines, replacement, maxBytes }: ReplaceJob,
): { body: Buffer; count: number } {
  const seesFeed = namesLineFeed(regex.syntax());
  const template = replacement.replaceAll("\r\n", "\n");
  const pieces: Buffer[] = [];
  let before = endingFor(body, 0);
  let [kept, length, count] = [0, 0, 0];
  for (const { start, end, ending } of linesFrom(body, markLength(body))) {
    const text = body.subarray(start, end);
    const line = seesFeed && ending !== "" ? Buffer.concat([text, lineFeed]) : text;
    if (regex.isMatch(line, 0, line.length)) {
      count += lines === "first" ? 1 : countMatches(regex, line);
      const replaced =
        lines === "first" ? regex.replaceFirst(line, template) : regex.replaceAll(line, template);
      const written = withLineEnd(replaced, { before, own: ending, endsInFeed: line !== text });
      pieces.push(body.subarray(kept, start), written);
      kept = end + ending.length;
      length += written.length;
      if (length > maxBytes) throw new ResultTooLarge();
    }
    if (ending !== "") before = ending;
  }
  return { body: count === 0 ? body : Buffer.concat([...pieces, body.subarray(kept)]), count };
}

const lineFeed = Buffer.from("\n");

const markLength = (body: Buffer): number => (markedEncoding(body) === "utf-8" ? 3 : 0);

/** Counts matches by a replacement that adds one byte to each. */
const countMatches = (regex: Regex, line: Buffer): number =>
  regex.replaceAll(line, "${0}.").length - line.length;

/**
 * Runs `act` after the pattern has got its memory, so the engine can fail only if the result does not fit.
 */
function withinMemory<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof RegexEngineFailure ? new ResultTooLarge() : error;
  }
}

/** Runs a job, and returns its result or its error as a message. */
export function replyTo(job: ReplaceJob, replacer: Replacer): ReplaceReply {
  try {
    return replacer.replace(job);
  } catch (error) {
    const { name, message } = error as Error;
    return { failure: name, message };
  }
}

/** Decodes a message of `replyTo`. Throws like `Replacer.replace`. */
export function readReply(reply: ReplaceReply): Replaced {
  if (!("failure" in reply)) return reply;
  const failures = [
    PatternError,
    TemplateError,
    ForeignTemplateError,
    RegexEngineFailure,
    ResultTooLarge,
    TooManyMatches,
  ];
  const failure = failures.find(({ name }) => name === reply.failure);
  throw new (failure ?? Error)(reply.message);
}
