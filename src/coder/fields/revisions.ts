/** Revisions in requests and answers (coder §14). */
import { Type } from "@sinclair/typebox";
import { Refusal, refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { readWholeFile } from "../../filesystem/files/read.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { requireRevisionForm } from "../../filesystem/operations/expected-revision.ts";
import { describeConflict, type LineRange } from "../../text/edits/conflict.ts";
import type { CoderContext } from "../define.ts";
import { shownText } from "./file-encoding.ts";

export const ExpectedRevision = (description: string) =>
  Type.Optional(Type.String({ since: "0.4.0", description }));

export const Revision = Type.Optional(
  Type.String({
    since: "0.4.0",
    description: "SHA-256 of the file after the change; in a dry run, as it would be.",
  }),
);

interface Expectation {
  readonly path: string;
  readonly expected: string;
  /** The lines that the call names. */
  readonly ranges?: readonly LineRange[];
}

/** The current content of a file. */
interface Current {
  readonly bytes: Buffer;
  /** Its text, as a read shows it. */
  readonly text: Buffer;
}

/** Returns the refusal of a file with an unexpected revision. */
export const revisionMismatch = (
  { path, expected, ranges = [] }: Expectation,
  { bytes, text }: Current,
): Refusal =>
  refuse.revisionMismatch(path, {
    path,
    expected,
    current: revisionOfBytes([bytes]),
    size: bytes.length,
    ...describeConflict(text, ranges),
  });

/**
 * Runs `work`, which may expect a file to have a revision. Throws for a malformed revision, and for a file
 * with another one, which the error names.
 */
export async function expecting<T>(
  work: () => Promise<T>,
  { path, expected, mayBeAbsent = false }: Expected,
  context: CoderContext,
): Promise<T> {
  if (expected === undefined) return await work();
  requireRevisionForm(expected, { mayBeAbsent });
  return await explainMismatch(work, { path, expected }, context);
}

interface Expected {
  readonly path: string;
  readonly expected: string | undefined;
  /** Whether `absent` is an expectation too. */
  readonly mayBeAbsent?: boolean;
}

/** Runs `work`. If it throws a revision mismatch, adds the current state of the file to the error. */
async function explainMismatch<T>(
  work: () => Promise<T>,
  expectation: Expectation,
  context: CoderContext,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "revision-mismatch")) throw error;
    const bytes = currentBytes(expectation, context);
    // It has since been removed, or is too large to be shown.
    if (bytes === undefined) throw error;
    if (context.profile.explained_errors) throw wholeMismatch(expectation, bytes);
    const text = await runInSlices(shownText(bytes, expectation, context), createTimeSlice());
    throw revisionMismatch(expectation, { bytes, text });
  }
}

const wholeMismatch = ({ path, expected }: Expectation, bytes: Buffer): Refusal =>
  refuse.wholeRevisionMismatch(path, {
    path,
    expected,
    current: revisionOfBytes([bytes]),
    size: bytes.length,
  });

function currentBytes({ path }: Expectation, { tree, config }: CoderContext): Buffer | undefined {
  const limit = { key: "max_read_bytes", bytes: config.max_read_bytes };
  try {
    return readWholeFile(tree.jail, path, { limit, use: (body) => Buffer.from(body) });
  } catch {
    return undefined;
  }
}
