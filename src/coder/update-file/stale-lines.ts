/** The note on an edit by line numbers in a file that has changed since its author last saw it. */
import { authorId, isSameAuthor, renderAuthor } from "../../base/author.ts";
import type { Cause } from "../../filesystem/feed/change.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import type { CoderContext } from "../define.ts";
import type { Ops } from "./ops.ts";

const lineOps: ReadonlySet<string> = new Set(["insert", "remove", "update_lines"]);

interface EditByLines {
  /** The path from the base, links resolved; `undefined` if the content is not that of the file there. */
  readonly place: string | undefined;
  readonly ops: Ops;
  readonly before: Buffer;
  readonly dryRun: boolean;
  /** Whether the caller has sent the revision of the file. */
  readonly isChecked: boolean;
}

interface StaleLines {
  readonly note?: string;
  /** Notes that the author knows the present text. Call it once the lines are known to be in the file. */
  readonly accept: () => void;
}

/**
 * Returns a note if the ops have line numbers and the file has changed since a call last showed it to the
 * author, or wrote it for them, by anything but calls of theirs.
 */
export async function findStaleLines(
  { place, ops, before, dryRun, isChecked }: EditByLines,
  context: CoderContext,
): Promise<StaleLines> {
  const { profile, author, shownFiles, feed, journal, sentence = (text) => text } = context;
  if (!profile["update-file.stale_lines"] || place === undefined || authorId(author) === undefined)
    return { accept: () => {} };
  const revision = revisionOfBytes([before]);
  const shown = shownFiles.at(author, place);
  const accept = () => shownFiles.note(author, place, revision);
  const isByLines = !isChecked && ops.some(({ op }) => lineOps.has(op));
  // The refusal of a text that is not there shows lines of the file, and that of a line number none.
  if (!isByLines) accept();
  if (!isByLines || shown === undefined || shown.revision === revision) return { accept };
  const cause = await feed.causeAt(place, shown.position);
  const undo =
    dryRun || journal === undefined ? "" : ", and take this edit back with coder::undo if they are wrong";
  const note = sentence(
    `changed since a file tool last showed it to you or wrote it${byOf(cause, context)}: the line numbers counted in the present text; check the changed lines${undo}`,
  );
  return { note, accept };
}

/** Returns who made the change, if it is known. */
function byOf(cause: Cause | undefined, { author: own }: CoderContext): string {
  if (cause === undefined) return "";
  if (cause.by === "external") return " (by another program)";
  const { program, author, function_id: id = "a call" } = cause;
  // The feed gets a call's own change after the shown files do, and does not know what came after it.
  if (program === undefined && isSameAuthor(author, own)) return "";
  const whose = author === undefined || isSameAuthor(author, own) ? "" : ` by ${renderAuthor(author)}`;
  if (program === undefined) return ` (${id}${whose})`;
  return ` (while ${id} ${program} ran${whose === "" ? "" : `,${whose}`})`;
}
