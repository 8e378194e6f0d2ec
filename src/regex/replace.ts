import { EngineFailure, Machine, PatternError, type Regex } from "./machine.ts";
import type { WasmModule } from "./webassembly.ts";

/** The result has more bytes than it may, or than there was memory for. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}

export interface ReplaceJob {
  /** The regex engine, compiled, with no more memory than a result of `maxBytes` needs. */
  readonly engine: WasmModule;
  readonly pattern: string;
  readonly replacement: string;
  readonly body: Uint8Array;
  readonly maxBytes: number;
  /** Takes the body line by line, each with its "\n", and replaces every match or the first one in each. */
  readonly lines?: "every" | "first";
}

export interface Replaced {
  readonly body: Uint8Array;
  /** How many matches were replaced; only counted line by line. */
  readonly count: number;
}

/** The new body, or the failure with the name of its class, which an error that is posted loses. */
export type ReplaceReply = Replaced | { readonly failure: string; readonly message: string };

/** The body with what was asked for replaced. Throws `PatternError`, `EngineFailure` or `ResultTooLarge`. */
export function replaceMatches(job: ReplaceJob): Replaced {
  // A machine of its own: the memory that a large body took goes with it.
  const regex = new Machine(job.engine).compile(job.pattern);
  const body = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.length);
  const replaced = withinMemory(() =>
    job.lines === undefined
      ? { body: regex.replaceAll(body, job.replacement), count: 0 }
      : replaceInLines(regex, body, job),
  );
  if (replaced.body.length > job.maxBytes) throw new ResultTooLarge();
  return replaced;
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
  return { body: Buffer.concat([...pieces, body.subarray(kept)]), count };
}

/** One byte more stands behind each match. */
const countMatches = (regex: Regex, line: Buffer): number =>
  regex.replaceAll(line, "${0}.").length - line.length;

/** The pattern has got its memory by then, so it is the result that there was not enough for. */
function withinMemory<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof EngineFailure ? new ResultTooLarge() : error;
  }
}

/** `replaceMatches`, as a reply that can be posted. */
export function replyTo(job: ReplaceJob): ReplaceReply {
  try {
    const { body, count } = replaceMatches(job);
    return { body: new Uint8Array(body), count };
  } catch (error) {
    const { name, message } = error as Error;
    return { failure: name, message };
  }
}

/** What a posted reply says; throws as `replaceAll` does. */
export function readReply(reply: ReplaceReply): Replaced {
  if ("body" in reply) return reply;
  const failure = [PatternError, EngineFailure, ResultTooLarge].find(({ name }) => name === reply.failure);
  throw new (failure ?? Error)(reply.message);
}
