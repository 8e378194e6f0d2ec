/** Edits one file for an entry of `coder::update-file`. */

import { Refusal } from "../../base/errors.ts";
import { beginAtOnce, createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { requireRevisionForm } from "../../filesystem/operations/expected-revision.ts";
import { type Bodies, FileEdit } from "../../filesystem/operations/update.ts";
import { echoesOf } from "../../text/edits/echo.ts";
import type { EditTrace } from "../../text/edits/edit-trace.ts";
import { joinPieces } from "../../text/edits/pieces.ts";
import { unifiedDiff } from "../../text/edits/unified-diff.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import type { CoderContext } from "../define.ts";
import { shownText } from "../fields/file-encoding.ts";
import { notesOnLinks } from "../fields/links.ts";
import { revisionMismatch } from "../fields/revisions.ts";
import type { ProfileDefaults } from "../profiles.ts";
import { binaryKind } from "../read-file/file-kind.ts";
import { describeLineEnds, notesOnEdited, notesOnUnused } from "../read-file/text-notes.ts";
import type { FittedBodies, ShownFields, UpdateAnswer } from "./answer.ts";
import { type AppliedOps, applyOps, type FileOps, inSlices, validateOps } from "./apply-ops.ts";
import { withoutBinaryLines } from "./binary-lines.ts";
import { withFailingOps } from "./failing-ops.ts";
import { openForOps } from "./file-text.ts";
import { notesOnLosses } from "./loss-notes.ts";
import { locateOps } from "./op-locations.ts";
import { addressedLines, findStaleLines } from "./stale-lines.ts";

/** The ops of a file, and its expected state. */
interface FileEditSpec extends Pick<FileOps, "ops" | "path"> {
  readonly expected_revision?: string | undefined;
  /** The label of its encoding, used unless the file has a byte order mark. */
  readonly encoding?: string | undefined;
}

/** A file with its new content as text. */
interface EditedFile {
  readonly path: string;
  readonly bodies: Bodies;
  /** The places that the ops changed; `undefined` unless requested. */
  readonly trace: EditTrace | undefined;
  /** Whether the lines of the file end in CR, and those of `bodies` in LF. */
  readonly endsInReturns: boolean;
  /** The name of the encoding of a file that is not UTF-8. */
  readonly encoding: string | undefined;
  /** Advice on replacements that probably did not do what was meant. */
  readonly hints: readonly string[];
  /** Notes on what the edit did not keep, and on an encoding that is not used. */
  readonly losses: readonly string[];
}

/** The ways to show an edited file in an answer. */
export const shownAs = ["bodies", "echo", "diff", "none"] as const;

interface EditOptions {
  readonly form: (typeof shownAs)[number];
  /** The answer that the bodies must fit into. Only for the form `bodies`. */
  readonly answer?: UpdateAnswer;
  /** Whether the answer has its revision. */
  readonly hasRevision: boolean;
  /** Whether earlier changes of a transaction may have moved the file to its path. */
  readonly mayBeMoved?: boolean;
  /** Whether the call only plans the edit, in a tree that is not written. */
  readonly isPlan?: boolean;
  /** Whether matches are counted in a form that does not show them. */
  readonly countsMatches?: boolean;
}

/** The answer about one file. */
interface Edit {
  /** The current number of lines. */
  readonly lines: number;
  readonly revision?: string;
  readonly bodies?: FittedBodies;
  readonly fields: ShownFields;
  /** The matches that the first op replaced, if they were counted. */
  readonly matches: number | undefined;
}

/** Edits one file. If it throws a refusal, nothing was written. */
export async function editFile(
  { path, ops, expected_revision: expected, encoding: label }: FileEditSpec,
  { form, answer, hasRevision, countsMatches = false, ...options }: EditOptions,
  context: CoderContext,
): Promise<Edit> {
  const { mayBeMoved = false, isPlan = false } = options;
  const slice = createTimeSlice();
  validateOps({ path, ops }, context.profile);
  await slice.yieldIfDue();
  if (expected !== undefined) requireRevisionForm(expected);
  const requested = requestedEncoding(label);
  const isShown = form === "echo" || form === "diff";
  const isTraced = isShown || countsMatches;
  await using file = await FileEdit.begin(context.tree, path, context);
  for (;;) {
    const { before, placeOnDisk: place } = file;
    const edited = { place: mayBeMoved ? undefined : place, before, lines: ops.flatMap(addressedLines) };
    const how = { isDry: isPlan, isChecked: expected !== undefined };
    const stale = await findStaleLines({ ...edited, ...how }, context);
    if (expected !== undefined && revisionOfBytes([before]) !== expected) {
      const text = await inSlices(
        shownText(before, { path, encoding: requested }, context),
        context.deadline,
      );
      const ranges = await locateOps(text, ops, context);
      throw revisionMismatch({ path, expected, ranges }, { bytes: before, text });
    }
    const opening = openForOps(before, { path, ops, encoding: requested }, context);
    const { text, bytesOf, endsInReturns, encoding, ...opened } = await inSlices(opening, context.deadline);
    const applied = await applyAll(
      text,
      { path, ops: opened.ops, isUnnamed: opened.isUnnamed, isTraced, mayMatchNothing: countsMatches },
      context,
    );
    const { parts, lines, trace, hints } = applied;
    const after = await inSlices(bytesOf(parts), context.deadline);
    await slice.yieldIfDue();
    const revision = hasRevision ? revisionOfBytes(after) : undefined;
    await slice.yieldIfDue();
    stale.accept();
    const written = file.write(after);
    const bodies = { before: text, after: parts };
    const losses = [...notesOnUnused(requested, encoding, text), ...notesOnLosses(file.lossesBy(after))];
    const links = context.profile.names_links ? notesOnLinks(context.tree.jail, path) : [];
    const showing = { path, bodies, trace, endsInReturns, encoding, hints, losses };
    const shown = isShown ? await runInSlices(showEdit(form, showing, context.profile), slice) : {};
    const isUnchanged = context.profile.skips_equal_writes && file.isEqual(after);
    const fields = completed(withNotes(shown, links), isUnchanged, stale.note);
    const fitting = fitBodies(bodies, form, answer);
    const fitted = fitting instanceof Promise ? await fitting : fitting;
    const edit = {
      lines,
      ...(revision !== undefined && { revision }),
      ...(fitted !== undefined && { bodies: fitted }),
      fields,
      matches: trace?.sites[0]?.replacements,
    };
    if (await written) return edit;
  }
}

/** Returns the bodies if the answer shows them, and a promise only if they are large. */
const fitBodies = (bodies: Bodies, form: string, answer: UpdateAnswer | undefined) =>
  form === "bodies" && answer !== undefined ? beginAtOnce(answer.fit(bodies)) : undefined;

/** Returns the fields with a hint before the others, and whether the file had this content already. */
const completed = (fields: ShownFields, isUnchanged: boolean, hint: string | undefined): ShownFields => ({
  ...fields,
  ...(isUnchanged && { unchanged: true as const }),
  ...(hint !== undefined && { hints: [hint, ...(fields.hints ?? [])] }),
});

/** Applies all ops. In the profile `agent`, the refusal of the first that fails has the others that fail. */
async function applyAll(
  text: Buffer,
  request: Parameters<typeof applyOps>[1],
  context: CoderContext,
): Promise<AppliedOps> {
  try {
    return await applyOps(text, request, context);
  } catch (error) {
    if (!context.profile.explained_errors || !(error instanceof Refusal)) throw error;
    throw withoutBinaryLines(await withFailingOps(error, { ...request, text }, context), text);
  }
}

/** Returns the changes of an edit, in one of the forms whose size is bounded. */
function* showEdit(
  form: string,
  { path, bodies, trace, hints, losses, ...file }: EditedFile,
  profile: ProfileDefaults,
): Steps<ShownFields> {
  if (trace === undefined) return {};
  const after = joinPieces(bodies.after);
  yield;
  const hasKind = profile["read-file.binary_kinds"] && !file.encoding;
  const shown = form === "diff" ? [after, bodies.before] : [after];
  const kind = hasKind ? shown.map(binaryKind).find((one) => one !== undefined) : undefined;
  if (kind !== undefined)
    return { text_notes: [`binary${kind === "" ? "" : `: ${kind}`}, so its lines are not shown`] };
  const ends = {
    ...(profile["update-file.line_ends"] && withNotes(yield* formOf(bodies.before, after, file), losses)),
    ...(hints.length > 0 && { hints }),
  };
  yield;
  if (form === "echo") {
    const { echoes, isTruncated } = yield* echoesOf(after, trace.sites);
    return { echoes, echoes_truncated: isTruncated, ...ends };
  }
  const { diff, isTruncated } = yield* unifiedDiff(path, { ...bodies, after, splices: trace.splices });
  return { diff, diff_truncated: isTruncated, ...ends };
}

/** Returns the form of a text with further notes. */
export const withNotes = <Form extends Pick<ShownFields, "text_notes">>(
  form: Form,
  notes: readonly string[],
): Form => (notes.length === 0 ? form : { ...form, text_notes: [...(form.text_notes ?? []), ...notes] });

/** The fields that name the form of a text. */
export type EditedForm = Pick<ShownFields, "line_ends" | "line_ends_changed" | "text_notes">;

/** Returns the differences of a text from UTF-8 with LF and a line end at its end, in steps. */
export function* formOf(
  before: Buffer,
  after: Buffer,
  { endsInReturns, encoding }: Pick<EditedFile, "encoding" | "endsInReturns">,
): Steps<EditedForm> {
  const notes = notesOnEdited(after, encoding);
  return {
    ...(yield* lineEndsOf(before, after, endsInReturns)),
    ...(notes.length > 0 && { text_notes: notes }),
  };
}

/** Returns the line ends of an edited file, if it has others than LF, and whether they changed. */
function* lineEndsOf(
  before: Buffer,
  after: Buffer,
  endsInReturns: boolean,
): Steps<Pick<ShownFields, "line_ends" | "line_ends_changed">> {
  if (endsInReturns) return { line_ends: "CR" };
  const was = describeLineEnds(before);
  yield;
  const is = describeLineEnds(after);
  if (was === undefined && is === undefined) return {};
  const isChanged = kindOf(was) !== kindOf(is);
  return { line_ends: is ?? "LF", ...(isChanged && { line_ends_changed: true }) };
}

/** Returns the kinds of line ends without their numbers. */
const kindOf = (lineEnds: string | undefined): string | undefined => lineEnds?.replace(/:.*/, "");
