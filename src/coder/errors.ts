/** Refusals on the wire, in the answers of `coder::*`. */
import { type Static, Type } from "@sinclair/typebox";
import { renderAuthor } from "../base/author.ts";
import { quoteShort, type Reason, Refusal } from "../base/errors.ts";
import { Named } from "../base/schema/fragments.ts";
import type { WireError } from "../calls/contract/definition.ts";
import type { JournalRecord } from "../tree/journal/read-record.ts";

/** The code of each reason in the answers of `coder::*` (coder §4). */
export const coderCodes: Readonly<Record<Reason, string>> = {
  "bad-input": "C210",
  "bad-pattern": "C210",
  "unknown-field": "C210",
  "wrong-kind": "C210",
  missing: "C211",
  denied: "C211",
  "denied-by-rule": "C211",
  "too-large": "C213",
  outside: "C215",
  "out-of-scope": "C220",
  io: "C216",
  permission: "C216",
  "not-empty": "C216",
  timeout: "C216",
  exists: "C217",
  "text-not-found": "C210",
  "already-applied": "C210",
  ambiguous: "C210",
  "match-count": "C210",
  "revision-mismatch": "C221",
  protected: "C222",
  "over-quota": "C223",
};

/**
 * The closed list of values of `reason`. Missing and denied paths share one, except in an error that names
 * the deny rule, which follows from the path alone.
 */
const wireReasons = {
  "bad-input": "invalid_argument",
  "bad-pattern": "invalid_pattern",
  "unknown-field": "unknown_field",
  "wrong-kind": "wrong_kind",
  missing: "no_such_path",
  denied: "no_such_path",
  "denied-by-rule": "denied",
  "too-large": "too_large",
  outside: "outside",
  "out-of-scope": "out_of_scope",
  io: "io",
  permission: "permission_denied",
  "not-empty": "not_empty",
  timeout: "deadline_exceeded",
  exists: "already_exists",
  "text-not-found": "not_found",
  "already-applied": "already_applied",
  ambiguous: "ambiguous",
  "match-count": "match_count",
  "revision-mismatch": "revision_mismatch",
  protected: "protected",
  "over-quota": "quota_exceeded",
} as const satisfies Readonly<Record<Reason, string>>;

/** The error of an entry, in the results of functions that no published reference has. */
export const EntryError = Named("EntryError", {
  code: Type.String(),
  details: Type.Optional(Type.Unknown()),
  message: Type.String(),
  reason: Type.String(),
});

/** The refusals of `coder::*` alone. */
export const refuseCoder = {
  /** The refusal of a missing path, which ends with the sentence `plain`, with what is known of that path instead of advice. */
  explainedAbsence: (
    { reason, message, path = "", isBelowFile, details }: Refusal,
    plain: string,
    known: readonly string[],
  ): Refusal =>
    new Refusal(
      reason,
      `${message.slice(0, -plain.length)}${quoteShort(path)} is not found, or the worker's configuration denies it. ${known.join(" ")}`,
      path,
      { isBelowFile, ...(details && { details }) },
    ),

  /** The same whether the folder is missing or denied. */
  noFolder: (path: string, folder: string): Refusal =>
    new Refusal(
      "missing",
      `${quoteShort(folder)}, the folder of ${quoteShort(path)}, is not found, or the worker's configuration denies it, and \`parents\` is false. Nothing was made there. Leave \`parents\` out to have the folder made too.`,
      path,
    ),

  emptyQuery: (): Refusal =>
    new Refusal("bad-input", "`query` is empty. Send the text or pattern to look for."),

  emptyContentQuery: (): Refusal =>
    new Refusal(
      "bad-input",
      "The field `query` is empty. Send the text or pattern to search for, or `search_content: false` to list paths.",
    ),

  nothingToSearch: (): Refusal =>
    new Refusal(
      "bad-input",
      "Both search_content and search_paths are false, so nothing would be searched. Leave one of them true.",
    ),

  strayRevision: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`expected_revisions\` names ${quoteShort(path)}, which is none of the paths. Nothing was removed. Write each path there as it stands in \`paths\`.`,
    ),

  patchAndPath: (): Refusal =>
    new Refusal(
      "bad-input",
      "Both `patch` and `patch_path` are given; send the text of the patch or the path of a file with it, not both.",
    ),

  strayPatchRevision: (name: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`expected_revisions\` names ${quoteShort(name)}, which the patch does not. Nothing was changed. Write each name there as it stands in the patch, without a/ and b/.`,
    ),

  tooManyPatchedFiles: (files: number, limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `The patch is about ${files} files, and one call changes at most ${limit}. Nothing was changed. Send it in several calls.`,
    ),

  unknownFileType: (type: string): Refusal =>
    new Refusal(
      "bad-input",
      `The file type ${quoteShort(type.slice(0, 60))} is unknown; send names that ripgrep has, such as "py", "rust" or "ts", or include_globs for other files.`,
    ),

  invertedLines: (): Refusal =>
    new Refusal(
      "bad-input",
      "The fields `invert` and `multiline` are both true. Leave `multiline` out for the lines that do not match.",
    ),

  emptyPattern: (): Refusal =>
    new Refusal(
      "bad-input",
      "The field `patterns` holds an empty text, which would match everywhere. Leave it out.",
    ),

  fuzzyRegex: (): Refusal =>
    new Refusal(
      "bad-input",
      "`fuzzy_paths` and `regex` are both true, and no path can match in both ways. Leave one of them out.",
    ),

  longFuzzyQuery: (characters: number, most: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`query\` has ${characters} characters, and with \`fuzzy_paths\` it may have ${most}. Send fewer, or leave \`fuzzy_paths\` out.`,
    ),

  badCursor: (cursor: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`cursor\` is ${quoteShort(cursor)}, which is not a cursor of this search, or the worker was restarted since. Send \`next_cursor\` as it was given, with all other fields as then, or leave \`cursor\` out to start again.`,
    ),

  noFsScope: (id: string): Refusal =>
    new Refusal(
      "bad-input",
      `The function ${id} takes no fs_scope, and cannot be limited to a part of the tree; leave the field out, or call a function that takes a path.`,
    ),

  noJournal: (missing: string | undefined): Refusal =>
    new Refusal(
      "bad-input",
      missing === undefined
        ? "The worker keeps no journal, so nothing is recorded and nothing can be undone. Ask the user to set the key `journal` in the configuration."
        : `The worker keeps no journal, because ${missing}, so nothing is recorded and nothing can be undone. Ask the user to set \`journal.dir\` in the configuration to a folder that the worker can write to.`,
    ),

  undoNothing: (what: string): Refusal =>
    new Refusal(
      "bad-input",
      `The journal has no ${what}, or no longer keeps it. List what can be undone with coder::checkpoints.`,
    ),

  undoOfOthers: ({ seq, author, label }: Pick<JournalRecord, "seq" | "author" | "label">): Refusal =>
    new Refusal(
      "bad-input",
      `No checkpoint of yours is left to undo here. The newest is #${seq} by ${renderAuthor(author)}${label === undefined ? "" : ` (${quoteShort(label)})`}. Nothing was undone. Send \`seq\` ${seq} to undo that one.`,
    ),

  undoWhich: (): Refusal =>
    new Refusal(
      "bad-input",
      "More than one of the fields steps, seq and transaction is given. Send one of them.",
    ),

  twoStarts: (): Refusal =>
    new Refusal("bad-input", "Both `since` and `checkpoint` are given. Send one of them."),

  badSince: (since: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`since\` is ${quoteShort(since.slice(0, 60))}, which is not a valid feed position. Send the \`next\` value of an earlier answer, or the epoch and seq of an event with a colon between them, or leave \`since\` out to start now.`,
    ),

  badBase64: (problem: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`content\` is not base64: it ${problem}. Nothing was written. Send it in base64 (RFC 4648) with padding, or leave \`encoding\` out for text.`,
    ),

  badMode: (mode: string): Refusal =>
    new Refusal(
      "bad-input",
      `The mode ${quoteShort(mode.slice(0, 60))} is not octal permission bits; send digits from "0000" to "0777", such as "0644".`,
    ),
} as const;

/** The meaning of each code to a caller, as the error page shows it. */
export const coderMeanings: Readonly<Record<string, string>> = {
  C210: "Bad input: malformed payload, unknown field (with `unknown_fields: refuse`), illegal line numbers, overlapping ops, bad pattern, glob or mode, absolute path, not a regular file or not a folder.",
  C211: "Not found, or denied by a glob. One wording for both, so that nobody can tell them apart; but the profile `agent` names the glob that a path matches as it was sent, whether it exists or not, and gives `denied` as the reason.",
  C213: "Larger than `max_read_bytes`, `max_write_bytes` or what one message on the bus can carry.",
  C215: "The path leaves `base_path`, lexically or through a symlink; or a symlink in it dangles or loops.",
  C216: "An I/O error below (permission, folder not empty, disk full), or the call ran out of time or was cancelled.",
  C217: "`coder::create-file` found an existing file and `overwrite` is false.",
  C220: "The path is outside of what `fs_scope` of the same call permits, or may only be read by that.",
  C221: "The file is not what `expected_revision` or a plan says. `details` holds its revision now and the lines that the call is about.",
  C222: "A `write_deny_globs` of the configuration or of the profile protects the path, or something below it. It can be read.",
  C223: "The caller is over one of its `quotas`, or the worker has too much to do. `details.retry_after_ms` says when to send the call again, where that is known.",
};

/** The values of `reason`, for the error page. */
export const coderReasons: readonly string[] = [...new Set(Object.values(wireReasons))];

/** A refusal as it is on the wire: compact JSON, code before message (coder §4). */
export const renderRefusal = (refusal: Refusal): string => JSON.stringify(describeRefusal(refusal));

function describeRefusal({ reason, message, details }: Refusal): Static<typeof EntryError> {
  const head = { code: coderCodes[reason], message, reason: wireReasons[reason] };
  return details === undefined ? head : { ...head, details };
}

/** The error of an entry as an object. */
export const entryError = ({ text }: WireError): Static<typeof EntryError> => JSON.parse(text);

/** An error of `coder::*` on the wire; undefined for an unexpected one. */
export function renderCoderError(error: unknown): WireError | undefined {
  if (!(error instanceof Refusal)) return undefined;
  return { text: renderRefusal(error), code: coderCodes[error.reason] };
}

/** Whether a rendered refusal says that there is nothing, or nothing to be seen, at a path. */
export const isAbsence = (rendered: string): boolean =>
  (JSON.parse(rendered) as { code: string }).code === coderCodes.missing;
