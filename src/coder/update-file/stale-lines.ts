/** The note on an edit by line numbers in a file that has changed since its author last saw it. */
import { isUtf8 } from "node:buffer";
import { authorId, isSameAuthor, renderAuthor } from "../../base/author.ts";
import { createTurnSlice } from "../../base/scheduling/time-slice.ts";
import type { Cause } from "../../filesystem/feed/change.ts";
import { isLarge, revisionOfBytes } from "../../filesystem/files/revision.ts";
import { lineFeed } from "../../text/edits/lines.ts";
import { rangeOf, type WindowRange } from "../../text/edits/window.ts";
import type { CoderContext } from "../define.ts";
import type { ShownFile, ShownLine } from "../services/shown-files.ts";
import type { Op } from "./ops.ts";

/** The slice of all large files that are hashed here in one turn, each in one step. */
const hashing = createTurnSlice();

interface EditByLines {
  /** The path from the base, links resolved; `undefined` if the content is not that of the file there. */
  readonly place: string | undefined;
  readonly before: Buffer;
  /** The lines that the edit has the numbers of. */
  readonly lines: readonly WindowRange[];
  /** Whether the call only shows what the edit would do. */
  readonly isDry: boolean;
  /** Whether the caller has sent the revision of the file. */
  readonly isChecked: boolean;
}

interface StaleLines {
  readonly note?: string;
  /** Notes that the answer shows the lines. Call it once they are known to be in the file. */
  readonly accept: () => void;
}

/**
 * Returns a note if an edit has line numbers and the file has changed since a call last showed those lines
 * to the author, or wrote them, by anything but calls of theirs.
 */
export async function findStaleLines(
  { place, before, lines: all, isDry, isChecked }: EditByLines,
  context: CoderContext,
): Promise<StaleLines> {
  const { profile, author, shownFiles, feed, journal, sentence = (text) => text } = context;
  if (!profile["update-file.stale_lines"] || place === undefined || authorId(author) === undefined)
    return { accept: () => {} };
  if (isLarge({ size: before.length }) && hashing.isDue) await hashing.yieldIfDue();
  const revision = revisionOfBytes([before]);
  const lines = isChecked ? [] : all;
  // The refusal of a text that is not there shows lines of the file, and that of a line number none.
  if (lines.length === 0) shownFiles.note(author, place, revision);
  const accept = () => {
    // An edit that is made notes the text that it writes, and one in a transaction may never be made.
    if (isDry && lines.length > 0) shownFiles.noteLines(author, place, { revision, ranges: lines });
  };
  const shown = shownFiles.at(author, place);
  if (shown === undefined || isKnown(shown, { revision, before, lines })) return { accept };
  const by = byOf(await feed.causeAt(place, shown.position), context);
  const since =
    shown.later?.revision === revision ? "showed you these lines" : "showed it to you or wrote it";
  const undo = journal === undefined ? "" : ", and take this edit back with coder::undo if they are wrong";
  const check = isDry
    ? "check that they are those of the lines you mean before you make this edit"
    : `check the changed lines${undo}`;
  const note = sentence(
    `changed since a file tool last ${since}${by}: the line numbers counted in the present text; ${check}`,
  );
  return { note, accept };
}

/** Returns the lines that an op has the numbers of. */
export function addressedLines(op: Op): WindowRange[] {
  if (op.op === "insert") return [{ from: op.at_line, to: op.at_line }];
  return "from_line" in op ? [{ from: op.from_line, to: op.to_line }] : [];
}

interface PresentLines {
  readonly revision: string;
  readonly before: Buffer;
  readonly lines: readonly WindowRange[];
}

/**
 * Returns whether the author was shown the present lines. Lines at or beside those that were shown count as
 * shown.
 */
function isKnown({ line, later, ...shown }: ShownFile, { revision, before, lines }: PresentLines): boolean {
  if (shown.revision === revision || (line !== undefined && isAtItsPlace(line, before))) return true;
  return (
    later?.revision === revision &&
    lines.every(({ from, to }) => later.ranges.some((seen) => from <= seen.to + 1 && seen.from <= to + 1))
  );
}

/** Returns whether a line begins as it did. Bytes that are not lines as a search has them count as such. */
function isAtItsPlace({ number, start }: ShownLine, text: Buffer): boolean {
  // A search decodes other encodings, and reads lines that end in CR.
  if (!isUtf8(text) || !text.includes(lineFeed)) return true;
  const { content } = rangeOf(text, { from: number, to: number });
  const withoutMark = (line: string) => line.replace(/^\ufeff/, "");
  return withoutMark(content.toString()).startsWith(withoutMark(start));
}

/** Returns who made the change, if it is known. */
function byOf(cause: Cause | undefined, { author: own }: CoderContext): string {
  if (cause === undefined) return "";
  if (cause.by === "external") return " (by another program)";
  const { program, author, commands, function_id: id = "a call" } = cause;
  if (commands !== undefined) return " (while several commands ran)";
  // The feed gets a call's own change after the shown files do, and does not know what came after it.
  if (program === undefined && isSameAuthor(author, own)) return "";
  const whose = author === undefined || isSameAuthor(author, own) ? "" : ` by ${renderAuthor(author)}`;
  if (program === undefined) return ` (${id}${whose})`;
  return ` (while ${id} ${program} ran${whose === "" ? "" : `,${whose}`})`;
}
