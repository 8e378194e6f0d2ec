/** The refusals of `coder::*` alone. */
import { type Author, authorId, renderAuthor } from "../base/author.ts";
import { quoteShort, Refusal } from "../base/errors.ts";
import type { MissingJournal } from "../filesystem/journal/journal-config.ts";
import type { JournalRecord } from "../filesystem/journal/read-record.ts";

/** The hint for people at a terminal who are not the user of the server. */
const ownJournals =
  " A server that runs as another user, or with another XDG_STATE_HOME or `journal.dir`, keeps its own journal.";

/** Maximum authors that a refusal names. */
const maxAuthors = 5;

/** Quotes an author as `author` takes it, with the name that a client claims. */
const quoteAuthor = (author: Author): string =>
  `${quoteShort(authorId(author) ?? "")}${author.client === undefined ? "" : ` (${author.client})`}`;

export const refuseCoder = {
  /**
   * Replaces the advice at the end of a missing path's refusal, the sentence `plain`, with the facts that are
   * known of the path.
   */
  explainedAbsence: (
    { reason, message, path = "", isBelowFile, details }: Refusal,
    plain: string,
    known: readonly string[],
  ): Refusal =>
    new Refusal(
      reason,
      `${message.slice(0, -plain.length)}${quoteShort(path)} is not found, or the configuration denies it. ${known.join(" ")}`,
      path,
      { isBelowFile, ...(details && { details }) },
    ),

  /** Adds to the refusal of a missing path where the paths of a limited call start. */
  pathFromBase: ({ reason, message, path, isBelowFile, details }: Refusal, root: string): Refusal =>
    new Refusal(
      reason,
      `${message} Paths of this call start at ${quoteShort(root)}, the root of its \`fs_scope\`. Send the path without that.`,
      path,
      { isBelowFile, ...(details && { details }) },
    ),

  /** Refuses to follow a link that the call sees; `plain` is the sentence for a link anywhere on the path. */
  uselessLink: ({ reason, message, path = "", details }: Refusal, plain: string): Refusal =>
    new Refusal(
      reason,
      `${message.slice(0, -plain.length)}${quoteShort(path)} is a symbolic link that leads outside, dangles or loops, so no call goes through it. The link itself can be deleted, moved or copied.`,
      path,
      { ...(details && { details }) },
    ),

  /** Refuses to follow a link into another root; `target` is the path there. */
  linkToOtherRoot: (
    { reason, message, path = "", details }: Refusal,
    plain: string,
    target: string,
  ): Refusal =>
    new Refusal(
      reason,
      `${message.slice(0, -plain.length)}${quoteShort(path)} leads through a symbolic link into another root, and no call goes through such a link. Send ${quoteShort(target)}.`,
      path,
      { ...(details && { details }) },
    ),

  /** Refuses a change of a folder as a whole, which a listing shows with what is denied in it. */
  holdsDenied: ({ message, path = "", details }: Refusal, plain: string): Refusal =>
    new Refusal(
      "denied-by-rule",
      `${message.slice(0, -plain.length)}${quoteShort(path)} holds something that the deny rules let no call touch, so it cannot be deleted, moved or copied as a whole. Name what lies beside that by its own path.`,
      path,
      { ...(details && { details }) },
    ),

  /** Uses the same sentence whether the folder is missing or denied. */
  noFolder: (path: string, folder: string): Refusal =>
    new Refusal(
      "missing",
      `${quoteShort(folder)}, the folder of ${quoteShort(path)}, is not found, or the configuration denies it, and \`parents\` is false. Nothing was made there. Leave \`parents\` out to have the folder made too.`,
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
      `\`expected_revisions\` names ${quoteShort(path)}, which is not one of the paths. Nothing was removed. Write each path as in \`paths\`.`,
    ),

  noPatch: (): Refusal =>
    new Refusal("bad-input", "`patch` is missing or empty. Send the text of the patch."),

  patchAndPath: (): Refusal =>
    new Refusal(
      "bad-input",
      "Both `patch` and `patch_path` are given; send the text of the patch or the path of a file with it, not both.",
    ),

  strayPatchRevision: (name: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`expected_revisions\` names ${quoteShort(name)}, which the patch does not. Nothing was changed. Write each name as in the patch, without a/ and b/.`,
    ),

  tooManyPatchedFiles: (files: number, limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `The patch changes ${files} files, and one call changes at most ${limit}. Nothing was changed. Send it in several calls.`,
    ),

  unknownFileType: (type: string): Refusal =>
    new Refusal(
      "bad-input",
      `The file type ${quoteShort(type.slice(0, 60))} is unknown. Send names that ripgrep knows, such as "py", "rust" or "ts", or use \`include_globs\` for other files.`,
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
      `\`query\` has ${characters} characters; with \`fuzzy_paths\` the maximum is ${most}. Send a shorter one, or leave \`fuzzy_paths\` out.`,
    ),

  badCursor: (cursor: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`cursor\` is ${quoteShort(cursor)}, which is not a cursor of this search, or the server was restarted since. Send the cursor of the answer before (next_cursor in JSON) unchanged, with all other fields as in that call, or leave \`cursor\` out to start again.`,
    ),

  noFsScope: (id: string): Refusal =>
    new Refusal(
      "bad-input",
      `The function ${id} takes no fs_scope, and cannot be limited to a part of the tree; leave the field out, or call a function that takes a path.`,
    ),

  noJournal: (missing: MissingJournal | undefined): Refusal =>
    new Refusal(
      "bad-input",
      missing === undefined
        ? "The state folder of this user holds no journal of this folder, so nothing is recorded here and nothing can be undone. `coder mcp` starts one with its first change, and other workers if the user sets the key `journal` in the configuration." +
            ownJournals
        : `No journal is kept here, because ${missing.reason}, so nothing is recorded and nothing can be undone. Ask the user to set ${missing.isByConfiguration ? "it higher" : "`journal.dir` in the configuration to a folder outside of what is served, which coder can write to"}.${missing.isByConfiguration ? "" : ownJournals}`,
    ),

  otherJournal: (): Refusal =>
    new Refusal(
      "bad-input",
      "This folder has no journal of its own, so nothing can be undone here. A server over other folders, which overlap with it, has recorded changes. Ask the user to run `coder checkpoints` with the folders of that server, in place of this one.",
    ),

  /** Refuses to undo what is not in the journal. `programs` have changed files since, as commands. */
  undoNothing: (what: string, programs: readonly string[] = []): Refusal =>
    new Refusal(
      "bad-input",
      `The journal has no ${what === "checkpoint" ? "checkpoint to undo" : `${what}, or no longer keeps it`}.${programs.length === 0 ? "" : ` Changes while commands (${programs.slice(0, 5).join(", ")}) ran have no checkpoint.`} List what can be undone with coder::checkpoints.`,
    ),

  /** Refuses an undo of the caller's checkpoints, or of those of the author `wanted`, if all are others'. */
  undoOfOthers: (
    { seq, author, label }: Pick<JournalRecord, "seq" | "author" | "label">,
    { wanted, authors }: { readonly wanted?: string | undefined; readonly authors: readonly Author[] },
  ): Refusal => {
    const newest = `The newest is #${seq} by ${renderAuthor(author)}${label === undefined ? "" : ` (${quoteShort(label)})`}. Nothing was undone. Send \`seq\` ${seq} to undo that one`;
    if (wanted === undefined)
      return new Refusal("bad-input", `No checkpoint of yours is left to undo here. ${newest}.`);
    const named = authors.slice(0, maxAuthors).map(quoteAuthor).join(", ");
    const more = authors.length > maxAuthors ? " and others" : "";
    const known = named === "" ? "" : ` The authors are ${named}${more}.`;
    return new Refusal(
      "bad-input",
      `No checkpoint of the author ${quoteShort(wanted.slice(0, 60))} is left to undo here.${known} ${newest}.`,
    );
  },

  undoWithoutSession: ({ seq, author, label }: Pick<JournalRecord, "seq" | "author" | "label">): Refusal =>
    new Refusal(
      "bad-input",
      `This client has no session, so its checkpoints cannot be distinguished from those of other clients. Nothing was undone. The newest is #${seq} by ${renderAuthor(author)}${label === undefined ? "" : ` (${quoteShort(label)})`}. Send \`seq\` ${seq} to undo that one, or the number in the last line of the change that you mean.`,
    ),

  byWithoutSession: (by: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`by\` is "${by}", but this client has no session, so its changes cannot be distinguished from those of other clients. Leave \`by\` out: each change is listed with its author.`,
    ),

  undoByLabel: (label: string, seq: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`label\` names the checkpoint of this undo and chooses none, and #${seq} has the label ${quoteShort(label)}. Nothing was undone. Send "seq": ${seq} to undo that one, or another \`label\`.`,
    ),

  undoWhich: (): Refusal =>
    new Refusal(
      "bad-input",
      "More than one of the fields steps, seq and transaction is given. Send one of them.",
    ),

  undoZero: (field: "seq" | "steps"): Refusal =>
    new Refusal(
      "bad-input",
      field === "seq"
        ? "`seq` is 0, but checkpoints are numbered from 1. Nothing was undone. Send the number of a checkpoint that coder::checkpoints lists, or leave `seq` out to undo the newest."
        : "`steps` is 0. Nothing was undone. Send how many of the newest checkpoints to undo, or leave `steps` out to undo one.",
    ),

  twoStarts: (): Refusal =>
    new Refusal("bad-input", "Both `since` and `checkpoint` are given. Send one of them."),

  badSince: (since: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`since\` is ${quoteShort(since.slice(0, 60))}, which is not a position in the feed. Send the one that an earlier answer names for what comes next, such as "5f0c1a2b3c4d:17", or leave \`since\` out.`,
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
