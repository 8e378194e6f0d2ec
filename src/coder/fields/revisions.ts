/** Revisions in requests and answers (coder §14). */
import { Type } from "@sinclair/typebox";
import { Refusal, refuse } from "../../base/errors.ts";
import { readWholeFile } from "../../filesystem/files/read.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { requireRevisionForm } from "../../filesystem/operations/expected-revision.ts";
import { describeConflict, type LineRange } from "../../text/edits/conflict.ts";
import type { CoderContext } from "../define.ts";

export const ExpectedRevision = (description: string) =>
  Type.Optional(Type.String({ since: "0.4.0", description }));

export const Revision = Type.Optional(
  Type.String({ since: "0.4.0", description: "SHA-256 of the file now." }),
);

interface Expectation {
  readonly path: string;
  readonly expected: string;
  /** The lines that the call names. */
  readonly ranges?: readonly LineRange[];
}

/** Returns the refusal of a file with an unexpected revision. `body` is its current content. */
export const revisionMismatch = ({ path, expected, ranges = [] }: Expectation, body: Buffer): Refusal =>
  refuse.revisionMismatch(path, {
    path,
    expected,
    current: revisionOfBytes([body]),
    ...describeConflict(body, ranges),
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
  { tree, config }: CoderContext,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "revision-mismatch")) throw error;
    const limit = { key: "max_read_bytes", bytes: config.max_read_bytes };
    throw readOr(error, () =>
      readWholeFile(tree.jail, expectation.path, {
        limit,
        use: (body) => revisionMismatch(expectation, body),
      }),
    );
  }
}

function readOr(error: Refusal, read: () => Refusal): Refusal {
  try {
    return read();
  } catch {
    // It has since been removed, or is too large to be shown.
    return error;
  }
}
