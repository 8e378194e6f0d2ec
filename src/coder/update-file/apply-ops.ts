import { isUtf8 } from "node:buffer";
import { Refusal, refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { refuseEdit } from "../../text/edits/edit-errors.ts";
import { EditTrace, spliceBetween } from "../../text/edits/edit-trace.ts";
import {
  candidatesAt,
  explainMissing,
  placesInContext,
  placesOf,
  placesOfDone,
} from "../../text/edits/explain-miss.ts";
import { applyLineOps } from "../../text/edits/line-ops.ts";
import { bomLength, countLines } from "../../text/edits/lines.ts";
import { joinPieces } from "../../text/edits/pieces.ts";
import type { Splice } from "../../text/edits/splices.ts";
import { encodingsThatSplit } from "../../text/edits/split-characters.ts";
import {
  bytesAfter,
  findMatches,
  type Matches,
  replaceKeepingLineEnds,
  replaceMatches,
  type StrReplace,
  withoutLineEnds,
} from "../../text/edits/str-replace.ts";
import { likelyEncodings } from "../../text/encodings/likely-encodings.ts";
import type { CoderContext } from "../define.ts";
import { refuseFileEncoding } from "../fields/file-encoding-errors.ts";
import type { ProfileDefaults } from "../profiles.ts";
import type { Ops, ReplaceOp, StrReplaceOp } from "./ops.ts";

/** The ops of one file. */
export interface FileOps {
  readonly path: string;
  readonly ops: Ops;
  /** Whether nothing says which encoding the file is in. */
  readonly isUnnamed: boolean;
}

/** A file after its ops. */
export interface AppliedOps {
  /** Its bytes, in pieces that follow each other. */
  readonly parts: readonly Buffer[];
  readonly lines: number;
  /** The places that each op changed; `undefined` unless requested. */
  readonly trace: EditTrace | undefined;
  /** Advice on replacements that probably did not do what was meant. */
  readonly hints: readonly string[];
}

/** Refuses ops that cannot edit any file. */
export function validateOps({ path, ops }: Pick<FileOps, "ops" | "path">, profile: ProfileDefaults): void {
  if (ops.length === 0) throw refuse.emptyOps(path);
  for (const [index, op] of ops.entries()) {
    if (op.op === "replace" && op.pattern === "")
      throw profile.explained_errors ? refuseEdit.emptyPattern({ path, index }) : refuse.emptyPattern();
    if (op.op !== "str_replace") continue;
    if (op.old_str === "") throw refuseEdit.emptyOldStr({ path, index });
    if (op.old_str === op.new_str) throw refuseEdit.sameText({ path, index });
  }
}

/**
 * Applies line ops first, by the line numbers of the unchanged file, and then the others, in order (coder
 * §8). With `isTraced` it reports the places that each op changed, which makes a `replace` take longer.
 */
export async function applyOps(
  before: Buffer,
  { path, ops, ...options }: FileOps & OpOptions,
  context: CoderContext,
): Promise<AppliedOps> {
  const hints: string[] = [];
  const slice = createTimeSlice();
  const lineOps = applyLineOps(before, ops, { keepsLineEnds: context.profile.keeps_line_ends });
  const edited = await runInSlices(lineOps, slice, () => context.deadline.check());
  const { isTraced } = options;
  const trace = isTraced ? new EditTrace(edited) : undefined;
  let body: Buffer | undefined;
  for (const [index, op] of ops.entries()) {
    if (op.op !== "replace" && op.op !== "str_replace") continue;
    // Ops that each take less than a slice take long together.
    if (slice.isDue) await slice.yieldIfDue();
    context.deadline.check();
    body ??= joinPieces(edited.parts);
    const replaced = await applyTextOp(body, op, { path, index, ...options, context });
    if (op.op === "replace" && isTraced && context.profile["update-file.explains_replacements"])
      hints.push(...hintsOn(op, index, replaced));
    trace?.add({ index, ...replaced });
    body = replaced.body;
  }
  if (body === undefined) return { ...edited, trace, hints };
  return { parts: [body], lines: countLines(body), trace, hints };
}

/**
 * Applies an op on the whole text of a file. Throws a refusal, which names the op in the profile `agent` if
 * the caller sent it as one.
 */
export async function applyTextOp(
  body: Buffer,
  op: ReplaceOp | StrReplaceOp,
  scope: TextOpScope,
): Promise<ReplacedText> {
  try {
    return await (op.op === "replace" ? replaceSome(body, op, scope) : strReplace(body, op, scope));
  } catch (error) {
    const isOfRequest = scope.mayMatchNothing !== true && scope.context.profile.explained_errors;
    if (!isOfRequest || !(error instanceof Refusal) || !isAboutOp(error)) throw error;
    throw refuseEdit.inOp(scope, error);
  }
}

/** Returns whether a refusal is about the pattern, the replacement or the result of an op. */
const isAboutOp = ({ reason, message }: Refusal): boolean =>
  (reason === "bad-pattern" || reason === "too-large") && !message.startsWith("ops[");

interface OpOptions {
  readonly isTraced: boolean;
  /** Whether a pattern may match nothing in any profile. */
  readonly mayMatchNothing?: boolean;
}

/** An op on the whole text of a file, and its context. */
interface TextOpScope extends OpOptions, Pick<FileOps, "isUnnamed" | "path"> {
  readonly index: number;
  readonly context: CoderContext;
}

interface ReplacedText {
  readonly body: Buffer;
  /** Empty unless it is traced. */
  readonly splices: readonly Splice[];
  readonly replacements: number;
}

/**
 * Replaces in the whole body except its byte order mark, which is not text: it stays first, and `^` and `\A`
 * match after it.
 */
async function replace(body: Buffer, op: ReplaceOp, scope: TextOpScope): Promise<ReplacedText> {
  const { path, isTraced, context } = scope;
  const { regex, config, deadline } = context;
  if (!isUtf8(body))
    throw context.profile.keeps_line_ends ? refuseUndecodable(body, scope) : refuse.notUtf8(path);
  const mark = body.subarray(0, bomLength(body));
  const text = body.subarray(mark.length);
  const replacement = {
    pattern: op.pattern,
    replacement: op.replacement,
    ignoreCase: op.ignore_case,
    dotMatchesNewline: op.dot_matches_newline,
    strict: config.refuse_undefined_groups,
    keepsLineEnds: context.profile.keeps_line_ends,
    refusesForeign: context.profile["update-file.explains_replacements"],
  };
  const limits = { path, maxBytes: config.max_write_bytes, deadline };
  const withMark = (after: Buffer) => (mark.length === 0 ? after : Buffer.concat([mark, after]));
  if (!isTraced && op.expect_matches === undefined) {
    const after = await regex.replaceAll(text, replacement, limits);
    return { body: withMark(after), splices: [], replacements: 0 };
  }
  const { body: after, count, ranges } = await regex.replaceTraced(text, replacement, limits);
  const splices = moveBy(ranges ?? spliceBetween(text, after), mark.length);
  requireCount(body, { ...scope, expected: op.expect_matches, found: count, splices });
  return { body: withMark(after), splices, replacements: count };
}

/**
 * Like `replace`, but refuses a pattern without matches, unless the call or the profile permits that. A
 * caller that does not read the counts would believe that the file was edited.
 */
async function replaceSome(body: Buffer, op: ReplaceOp, scope: TextOpScope): Promise<ReplacedText> {
  const replaced = await replace(body, op, scope);
  const mayMatchNothing =
    scope.mayMatchNothing === true || !scope.context.profile["update-file.explains_replacements"];
  if (mayMatchNothing || op.expect_matches !== undefined || replaced.replacements > 0) return replaced;
  // Without a trace, `replace` does not count. A second pass counts the matches if nothing has changed.
  if (!scope.isTraced) {
    if (!replaced.body.equals(body)) return replaced;
    const { replacements } = await replace(body, op, { ...scope, isTraced: true });
    if (replacements > 0) return replaced;
  }
  throw refuseEdit.patternNotFound(scope, await adviceOn(body, op, scope));
}

/** Returns advice on a replacement that wrote an escape as text. */
function hintsOn({ replacement }: ReplaceOp, index: number, { replacements: count }: ReplacedText): string[] {
  const [written] = /(?<!\\)\\[nt]/.exec(replacement) ?? [];
  if (count === 0 || written === undefined) return [];
  const meant = written === "\\n" ? "line break" : "tab";
  return [
    `ops[${index}] wrote ${written} as it stands, a backslash and a letter; for a ${meant} send the character`,
  ];
}

/** Returns the reason why a pattern matched nothing, if another flag would let it match. */
async function adviceOn(body: Buffer, sent: ReplaceOp, scope: TextOpScope): Promise<string | undefined> {
  const { pattern } = sent;
  const count = async (fields: Partial<ReplaceOp>) => {
    const { replacements } = await replace(body, { ...sent, ...fields }, { ...scope, isTraced: true });
    return replacements;
  };
  if (/(?<!\\)[\^$]/.test(pattern) && !/\(\?[a-zA-Z]*m/.test(pattern)) {
    const matches = await count({ pattern: `(?m)${pattern}` });
    if (matches > 0)
      return `^ and $ are the ends of the file; with (?m) before the pattern they are those of lines, and it matches ${countTimes(matches)}`;
  }
  const wider = [
    ...(/(?<!\\)\./.test(pattern) ? ([["dot_matches_newline", "its . matches no line end"]] as const) : []),
    ...(/\p{L}/u.test(pattern) ? ([["ignore_case", "it matches case-sensitively"]] as const) : []),
  ].filter(([field]) => !sent[field]);
  for (const [field, why] of wider) {
    const matches = await count({ [field]: true });
    if (matches > 0) return `${why}; with "${field}": true it matches ${countTimes(matches)}`;
  }
  if (/\\r/.test(pattern) && body.includes("\r\n"))
    return "each line end matches as \\n, and stays as it is; a \\r before it matches nothing";
  return undefined;
}

const countTimes = (count: number): string => (count === 1 ? "once" : `${count} times`);

const moveBy = (splices: readonly Splice[], bytes: number): readonly Splice[] =>
  bytes === 0
    ? splices
    : splices.map(({ from, to, length }) => ({ from: from + bytes, to: to + bytes, length }));

interface MatchCount extends TextOpScope {
  readonly expected: number | undefined;
  readonly found: number;
  readonly splices: readonly Splice[];
}

function requireCount(body: Buffer, { expected, found, splices, ...place }: MatchCount): void {
  if (expected === undefined || expected === found) return;
  throw refuseEdit.matchCount(place, { expected, found, candidates: candidatesAt(body, splices) });
}

async function strReplace(file: Buffer, sent: StrReplaceOp, scope: TextOpScope): Promise<ReplacedText> {
  const { path, context } = scope;
  const { config, deadline, profile } = context;
  const { body, op } = profile.keeps_line_ends
    ? await inSlices(withoutLineEnds(file, sent), deadline)
    : { body: file, op: sent };
  const matches = await inSlices(findMatches(body, op), deadline);
  if (matches.count === 0 && sent.expect_matches === 0) return { body: file, splices: [], replacements: 0 };
  if (matches.count === 0) throw await missOf(body, op, scope);
  if (scope.isUnnamed) await requireWholeCharacters(body, { ...scope, matches });
  requireMatches(body, sent, { ...scope, matches });
  if (bytesAfter(body, matches) > config.max_write_bytes)
    throw refuse.replacedTooLarge(path, config.max_write_bytes);
  const steps = body === file ? replaceMatches(body, matches) : replaceKeepingLineEnds(file, body, matches);
  const { body: after, splices } = await inSlices(steps, deadline);
  return { body: after, splices, replacements: matches.count };
}

/**
 * Refuses matches in a file of unknown encoding that may begin inside a character, such as "X" in the bytes
 * of "ス" in Shift_JIS.
 */
async function requireWholeCharacters(body: Buffer, { path, matches, context }: MatchScope): Promise<void> {
  if (isUtf8(body) && !body.includes("\x1b$")) return;
  const encodings = await inSlices(encodingsThatSplit(body, matches), context.deadline);
  if (encodings.length > 0) throw refuseFileEncoding.splitCharacter(path, encodings);
}

/** Explains why a text is missing: the file has a similar text, or already the replacement. */
async function missOf(body: Buffer, op: StrReplace, scope: TextOpScope): Promise<Error> {
  const { deadline } = scope.context;
  const miss = await inSlices(explainMissing(body, op.old_str), deadline);
  if (op.new_str === "") return refuseEdit.textNotFound(scope, miss);
  const done = await inSlices(findMatches(body, { ...op, old_str: op.new_str }), deadline);
  const places = await inSlices(placesOfDone(body, done, miss, op.old_str), deadline);
  return places === undefined
    ? refuseEdit.textNotFound(scope, miss)
    : refuseEdit.alreadyApplied(scope, places);
}

interface MatchScope extends TextOpScope {
  readonly matches: Matches;
}

/** Returns the refusal of a pattern for a text that is not UTF-8. */
const refuseUndecodable = (body: Buffer, { path, isUnnamed }: TextOpScope): Refusal =>
  isUnnamed
    ? refuseFileEncoding.undecodable(path, likelyEncodings(body))
    : refuseFileEncoding.invalidUtf8(path);

/** Refuses a text that occurs more often than allowed. */
function requireMatches(
  body: Buffer,
  { expect_matches: expected, replace_all: replacesAll }: StrReplaceOp,
  { matches, ...place }: MatchScope,
): void {
  const { count, overlapping } = matches;
  if (!replacesAll && expected !== 0 && (count > 1 || overlapping !== undefined)) {
    throw refuseEdit.ambiguousText(place, {
      count: Math.max(count, 2),
      candidates: placesInContext(body, matches),
      expected: expected === undefined || expected === count ? undefined : count,
    });
  }
  if (expected !== undefined && expected !== count) {
    const candidates = placesOf(body, matches);
    throw refuseEdit.matchCount(place, { expected, found: count, candidates });
  }
}

/** Runs steps on a file between other calls, until the deadline. */
export function inSlices<T>(steps: Steps<T>, deadline: CoderContext["deadline"]): Promise<T> {
  return runInSlices(steps, createTimeSlice(), () => deadline.check());
}
