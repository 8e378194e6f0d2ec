/** The text of a file as ops see it, and the refusals of its encoding. */
import { isUtf8 } from "node:buffer";
import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import { inOneStep, type Steps } from "../../base/scheduling/time-slice.ts";
import { type Encoding, encodingName } from "../../text/encodings/codec.ts";
import { likelyEncodings } from "../../text/encodings/likely-encodings.ts";
import { replaceEnds } from "../../text/encodings/line-ends.ts";
import { openFileText } from "../../text/encodings/open-file-text.ts";
import type { OpenedText } from "../../text/encodings/open-text.ts";
import type { CoderContext } from "../define.ts";
import { configuredEncoding } from "../fields/file-encoding.ts";
import { refuseFileEncoding } from "../fields/file-encoding-errors.ts";
import type { Op, Ops } from "./ops.ts";

/** The ops of a file, and its encoding, which a byte order mark overrides. */
interface TextOps {
  readonly path: string;
  readonly ops: Ops;
  readonly encoding?: Encoding | undefined;
}

/** A file that is edited. */
export interface EditedText extends Omit<OpenedText, "encoding"> {
  /** The name of the encoding, unless it is UTF-8 or unknown. */
  readonly encoding: string | undefined;
  /** Whether nothing says which encoding the file is in. */
  readonly isUnnamed: boolean;
  /** The ops on the text. */
  readonly ops: Ops;
}

/**
 * Opens a file for ops. In the contract profile, its bytes are the text. Throws bad-input for a file that
 * seems to be UTF-16, and for ops that would put characters into a file whose encoding is unknown, or lacks
 * them.
 */
export function* openForOps(
  file: Buffer,
  { path, ops, encoding: requested }: TextOps,
  context: CoderContext,
): Steps<EditedText> {
  const encoding = requested ?? configuredEncoding(path, context);
  if (!context.profile.keeps_line_ends && encoding === undefined) return { ...asItIs(file), ops };
  const written = () => inOneStep(() => ops.flatMap(writtenBy));
  const opened = yield* openWritten(file, { path, encoding, written });
  return {
    ...opened,
    encoding: opened.encoding && encodingName(opened.encoding),
    isUnnamed: opened.encoding === undefined && encoding !== "utf-8",
    ops: opened.endsInReturns ? yield* withoutReturns(ops) : ops,
  };
}

const asItIs = (text: Buffer): Omit<EditedText, "ops"> => ({
  text,
  encoding: undefined,
  isUnnamed: false,
  endsInReturns: false,
  bytesOf: (edited) => inOneStep(() => edited),
});

/** A file of a patch, and its encoding, which a byte order mark overrides. */
interface PatchedText extends Pick<TextOps, "path" | "encoding"> {
  /** Returns the texts that the patch adds. */
  readonly written: () => Steps<readonly string[]>;
}

/** Opens a file for a patch, like `openForOps`. */
export function* openForPatch(
  file: Buffer,
  { path, encoding: requested, written }: PatchedText,
  context: CoderContext,
): Steps<Omit<EditedText, "isUnnamed" | "ops">> {
  const encoding = requested ?? configuredEncoding(path, context);
  if (!context.profile.keeps_line_ends && encoding === undefined) return asItIs(file);
  const opened = yield* openWritten(file, { path, encoding, written });
  return { ...opened, encoding: opened.encoding && encodingName(opened.encoding) };
}

function* openWritten(file: Buffer, { path, encoding, written }: PatchedText): Steps<OpenedText> {
  const opened = yield* openFileText(file, { path, encoding });
  if (opened.encoding !== undefined || isUtf8(file)) return opened;
  const areBytes = encoding === "utf-8";
  const strange = yield* firstMatch(yield* written(), areBytes ? /\ufffd/ : /[^\0-\x7f]/u);
  if (strange === undefined) return opened;
  if (areBytes) throw refuseFileEncoding.lostBytes(path);
  throw refuseFileEncoding.unknownEncoding(path, strange, likelyEncodings(file));
}

/** Returns the first character in some texts that a pattern matches. */
function* firstMatch(texts: readonly string[], pattern: RegExp): Steps<string | undefined> {
  for (const text of texts)
    for (const piece of piecesOf(text)) {
      const found = pattern.exec(piece);
      if (found !== null) return found[0];
      yield;
    }
  return undefined;
}

/** Returns the texts that an op may put into a file. */
function writtenBy(op: Ops[number]): string[] {
  if (op.op === "str_replace") return [op.new_str];
  if (op.op === "replace") return [op.replacement];
  return op.op === "remove" ? [] : [op.content];
}

/** Returns ops for a file whose lines end in CR, and are edited as if they ended in LF. */
function* withoutReturns(ops: Ops): Steps<Ops> {
  const edited: Op[] = [];
  for (const op of ops) {
    const fields: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(op))
      fields[key] = typeof value === "string" ? yield* replaceEnds(value, /\r\n?/g, "\n") : value;
    edited.push(fields as Op);
    if (edited.length % opsPerStep === 0) yield;
  }
  return edited;
}

const opsPerStep = 1024;
