/** Edits one file, as an entry of `coder::update-file` says. */

import { requireRevisionForm } from "../../changes/expected-revision.ts";
import type { Bodies } from "../../changes/update.ts";
import { echoesOf } from "../../edits/echo.ts";
import type { EditTrace } from "../../edits/edit-trace.ts";
import { joinPieces } from "../../edits/pieces.ts";
import { unifiedDiff } from "../../edits/unified-diff.ts";
import { revisionOfBytes } from "../../files/revision.ts";
import type { ChangeContext } from "../define.ts";
import { requestedEncoding } from "../file-encoding.ts";
import type { ProfileDefaults } from "../profiles.ts";
import { describeLineEnds, notesOn } from "../reading/text-notes.ts";
import { revisionMismatch } from "../revisions.ts";
import type { ShownFields } from "./answer.ts";
import { type AppliedOps, applyOps, type FileOps, validateOps } from "./apply-ops.ts";
import { type EditedText, openForOps } from "./file-text.ts";
import { locateOps } from "./op-locations.ts";

/** The ops of a file, and what it has to be before them. */
interface FileEdit extends FileOps {
  readonly expected_revision?: string | undefined;
  /** The label of its encoding, unless it has a byte order mark. */
  readonly encoding?: string | undefined;
}

/** A file with its new content as text, which is there only while it is shown. */
export interface EditedFile {
  readonly path: string;
  readonly bodies: Bodies;
  /** The places that the ops changed; `undefined` unless requested. */
  readonly trace: EditTrace | undefined;
  /** Whether the lines of the file end in CR, and those of `bodies` in LF. */
  readonly endsInReturns: boolean;
  /** The name of the encoding of a file that is not UTF-8. */
  readonly encoding: string | undefined;
  /** Advice on replacements that most likely did not do what was meant. */
  readonly hints: readonly string[];
}

interface EditOptions<Shown> {
  readonly dryRun?: boolean;
  readonly isTraced: boolean;
  /** Makes what is answered of it. */
  readonly show: (edited: EditedFile) => Shown;
  /** Whether the answer has its revision. */
  readonly hasRevision: boolean;
}

/** The answer about one file. */
interface Edit<Shown> {
  /** The lines that it has now. */
  readonly lines: number;
  readonly revision?: string;
  readonly shown: Shown;
}

/** Throws a refusal, and then nothing was written. */
export async function editFile<Shown>(
  { path, ops, expected_revision: expected, encoding: label }: FileEdit,
  { dryRun = false, isTraced, show, hasRevision }: EditOptions<Shown>,
  context: ChangeContext,
): Promise<Edit<Shown>> {
  validateOps({ path, ops });
  if (expected !== undefined) requireRevisionForm(expected);
  const encoding = requestedEncoding(label);
  let applied: AppliedOps | undefined;
  let text: EditedText | undefined;
  const change = async (before: Buffer) => {
    if (expected !== undefined && revisionOfBytes([before]) !== expected) {
      const ranges = await locateOps(before, ops, context);
      throw revisionMismatch({ path, expected, ranges }, before);
    }
    text = openForOps(before, { path, ops, encoding }, context);
    applied = await applyOps(text.text, { path, ops: text.ops, isTraced }, context);
    return text.bytesOf(applied.parts);
  };
  const project = (bodies: Bodies): Edit<Shown> => ({
    lines: applied!.lines,
    ...(hasRevision && { revision: revisionOfBytes(bodies.after) }),
    shown: show({
      path,
      bodies: { before: text!.text, after: applied!.parts },
      trace: applied!.trace,
      endsInReturns: text!.endsInReturns,
      encoding: text!.encoding,
      hints: applied!.hints,
    }),
  });
  return await context.files.update(path, change, context, { project, dryRun });
}

/** Whether this form of an answer says where a file was changed. */
export const showsChanges = (form: string): boolean => form === "echo" || form === "diff";

/** An edit in one of the forms that are small in any case. */
export function showEdit(
  form: string,
  { path, bodies, trace, hints, ...file }: EditedFile,
  profile: ProfileDefaults,
): ShownFields {
  if (trace === undefined) return {};
  const after = joinPieces(bodies.after);
  const ends = {
    ...(profile["update-file.line_ends"] && formOf(bodies.before, after, file)),
    ...(hints.length > 0 && { hints }),
  };
  if (form === "echo") {
    const { echoes, isTruncated } = echoesOf(after, trace.sites);
    return { echoes, echoes_truncated: isTruncated, ...ends };
  }
  const { diff, isTruncated } = unifiedDiff(path, { ...bodies, after, splices: trace.splices });
  return { diff, diff_truncated: isTruncated, ...ends };
}

/** Returns how a text differs from UTF-8 with LF and a line end at its end. */
function formOf(
  before: Buffer,
  after: Buffer,
  { endsInReturns, encoding }: Pick<EditedFile, "encoding" | "endsInReturns">,
): Pick<ShownFields, "line_ends" | "line_ends_changed" | "text_notes"> {
  const lineEnds = describeLineEnds(after);
  const notes = notesOn(after, { isAtEnd: true, encoding }).filter((note) => note !== lineEnds);
  return {
    ...lineEndsOf(before, after, endsInReturns),
    ...(notes.length > 0 && { text_notes: notes }),
  };
}

/** Returns the line ends of an edited file, if it has others than LF, and whether they changed. */
export function lineEndsOf(
  before: Buffer,
  after: Buffer,
  endsInReturns: boolean,
): Pick<ShownFields, "line_ends" | "line_ends_changed"> {
  if (endsInReturns) return { line_ends: "CR" };
  const [was, is] = [describeLineEnds(before), describeLineEnds(after)];
  if (was === undefined && is === undefined) return {};
  const isChanged = kindOf(was) !== kindOf(is);
  return { line_ends: is ?? "LF", ...(isChanged && { line_ends_changed: true }) };
}

/** The line ends without their numbers. */
const kindOf = (lineEnds: string | undefined): string | undefined => lineEnds?.replace(/:.*/, "");
