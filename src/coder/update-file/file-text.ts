/** The text of a file as ops see it, and the refusals of its encoding. */
import { isUtf8 } from "node:buffer";
import { type Encoding, encodingName } from "../../text/encodings/codec.ts";
import { openFileText } from "../../text/encodings/open-file-text.ts";
import type { OpenedText } from "../../text/encodings/open-text.ts";
import type { CoderContext } from "../define.ts";
import { configuredEncoding } from "../fields/file-encoding.ts";
import { refuseFileEncoding } from "../fields/file-encoding-errors.ts";
import type { Ops } from "./ops.ts";

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
  /** The ops on the text. */
  readonly ops: Ops;
}

/**
 * Opens a file for ops. In the contract profile, its bytes are the text. Throws bad-input for ops that would
 * put characters into a file whose encoding is unknown, or lacks them.
 */
export function openForOps(
  file: Buffer,
  { path, ops, encoding: requested }: TextOps,
  context: CoderContext,
): EditedText {
  const encoding = requested ?? configuredEncoding(path, context);
  if (!context.profile.keeps_line_ends && encoding === undefined)
    return { text: file, ops, encoding: undefined, endsInReturns: false, bytesOf: (edited) => edited };
  const opened = openWritten(file, { path, encoding }, () => ops.flatMap(writtenBy).join("\n"));
  return {
    ...opened,
    encoding: opened.encoding && encodingName(opened.encoding),
    ops: opened.endsInReturns ? ops.map(withoutReturns) : ops,
  };
}

/** A file of a patch, and its encoding, which a byte order mark overrides. */
interface PatchedText extends Pick<TextOps, "path" | "encoding"> {
  /** Returns the text that the patch adds. */
  readonly written: () => string;
}

/** Opens a file for a patch, like `openForOps`. */
export function openForPatch(
  file: Buffer,
  { path, encoding: requested, written }: PatchedText,
  context: CoderContext,
): Omit<EditedText, "ops"> {
  const encoding = requested ?? configuredEncoding(path, context);
  if (!context.profile.keeps_line_ends && encoding === undefined)
    return { text: file, encoding: undefined, endsInReturns: false, bytesOf: (edited) => edited };
  const opened = openWritten(file, { path, encoding }, written);
  return { ...opened, encoding: opened.encoding && encodingName(opened.encoding) };
}

function openWritten(
  file: Buffer,
  { path, encoding }: Pick<TextOps, "path" | "encoding">,
  written: () => string,
): OpenedText {
  const opened = openFileText(file, { path, encoding });
  const strange =
    opened.encoding === undefined && !isUtf8(file) ? /[^\0-\x7f]/u.exec(written())?.[0] : undefined;
  if (strange !== undefined) throw refuseFileEncoding.unknownEncoding(path, strange);
  return opened;
}

/** Returns the texts that an op may put into a file. */
function writtenBy(op: Ops[number]): string[] {
  if (op.op === "str_replace") return [op.new_str];
  if (op.op === "replace") return [op.replacement];
  return op.op === "remove" ? [] : [op.content];
}

/** Returns an op for a file whose lines end in CR, and are edited as if they ended in LF. */
function withoutReturns<Op extends Ops[number]>(op: Op): Op {
  const texts = Object.entries(op).map(([key, value]) => [
    key,
    typeof value === "string" ? value.replace(/\r\n?/g, "\n") : value,
  ]);
  return Object.fromEntries(texts) as Op;
}
