/**
 * The refusals that functions share, with their sentences. `error-codes.ts` of each family has the codes on
 * the wire.
 *
 * A model repairs its call from this sentence alone, so the sentence says what was sent, why it was refused,
 * and the next call that works. It names only paths that the caller sent.
 */

import { type LinkFault, quoteShort, Refusal, type RefusalDetails } from "./refusal.ts";

export { type LinkFault, quoteShort, type Reason, Refusal, type RefusalDetails } from "./refusal.ts";

/** The errors of system calls that report an exhausted or broken resource, whatever was called. */
export const shortages: Readonly<Record<string, string>> = {
  EROFS: "the file system is read-only (EROFS)",
  ENOSPC: "no space is left on the disk (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EMFILE: "this program has too many files open (EMFILE)",
  ENFILE: "the system has too many files open (ENFILE)",
  ENOMEM: "no memory is left (ENOMEM)",
  EIO: "the disk reported an error (EIO)",
};

/** The state of a folder whose removal has stopped. */
interface PartlyRemoved {
  /** The number of removed entries. */
  readonly removed: number;
  /** The checkpoint of the call, if the journal has one. */
  readonly seq: number | undefined;
  /** The paths of that checkpoint to undo, unless all. */
  readonly paths?: readonly string[] | undefined;
  /** The number of changes that the journal could not keep. */
  readonly losses: number;
}

/** The constructors. Only these make a `Refusal`. */
export const refuse = {
  /** Adds the index of the refused change of a transaction. */
  inChange: ({ reason, message, path, isBelowFile, details, ending }: Refusal, change: number): Refusal =>
    new Refusal(reason, message, path, { isBelowFile, details: { ...details, change }, ending }),

  /**
   * Refuses a missing or denied path. Both share one sentence, so that a caller cannot find out which of the
   * two applies.
   */
  absent: (path: string, reason: "missing" | "below-file" | "denied"): Refusal =>
    new Refusal(
      reason === "denied" ? "denied" : "missing",
      `${quoteShort(path)} is not found, or the configuration denies it; list its folder with coder::list-folder to see what is there.`,
      path,
      { isBelowFile: reason === "below-file" },
    ),

  /** Refuses a payload that does not fit the schema; `problem` comes from a `Mismatch`. */
  badPayload: (field: string, problem: string): Refusal =>
    new Refusal("bad-input", `${field === "" ? "The payload" : `The field ${field}`} ${problem}.`),

  /** Refuses the payload of an HTTP trigger, whose `path` is that of the URL. */
  httpRequest: (): Refusal =>
    new Refusal(
      "bad-input",
      "This is an HTTP request; bind the trigger to a function of yours that passes its body on.",
    ),

  emptyBatch: (field: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`${field}\` is an empty array, so there is nothing to do. Send at least one entry.`,
    ),

  emptyOps: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `The file ${quoteShort(path)} has no ops; send at least one insert, remove, update_lines, replace or str_replace.`,
    ),

  emptyPattern: (): Refusal =>
    new Refusal(
      "bad-input",
      "A replace op has an empty pattern; send the regular expression to replace, or use an insert op to add text.",
    ),

  badGlob: (field: string, problem: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`${field}\` holds a bad glob: ${problem.replace(/\.$/, "")}. Correct it, or put a backslash before a character that is meant literally.`,
    ),

  takesBackNothing: (field: string, glob: string): Refusal =>
    new Refusal(
      "bad-input",
      `The glob ${quoteShort(glob)} in \`${field}\` takes back what globs before it exclude, and it is the first one. Send ${quoteShort(glob.slice(1))} to exclude that.`,
    ),

  /** Refuses an invalid pattern. `problem` is the message of the regex engine. */
  badPattern: (pattern: string, problem: string): Refusal =>
    new Refusal(
      "bad-pattern",
      `The pattern ${quoteShort(pattern)} is not valid: ${problem}; correct it (the dialect is that of Rust's regex crate), or put a backslash before characters that are meant literally.`,
    ),

  /** Refuses an invalid replacement. `problem` names the undefined group, and the existing ones. */
  badTemplate: (replacement: string, problem: string): Refusal =>
    new Refusal(
      "bad-pattern",
      `The replacement ${quoteShort(replacement)} is not valid: ${problem}; name one of these, put braces around the name where text goes on behind it (such as \${1}x), or write $$ for a dollar sign.`,
    ),

  foreignTemplate: (replacement: string, advice: string): Refusal =>
    new Refusal(
      "bad-pattern",
      `The replacement ${quoteShort(replacement)} has ${advice}. Nothing was changed.`,
    ),

  /** Refuses a valid pattern because the engine ran out of memory. */
  patternTooLarge: (pattern: string, limit: number): Refusal =>
    new Refusal(
      "bad-pattern",
      `The pattern ${quoteShort(pattern)} takes more memory than a call has for it (${limit} bytes). Use smaller counted repetitions or fewer alternatives.`,
    ),

  notUtf8: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not valid UTF-8, so a replace op could damage it; use insert, remove and update_lines, which leave all other bytes alone.`,
    ),

  emptyPath: (): Refusal =>
    new Refusal(
      "bad-input",
      'The path is empty; send a path relative to the base folder, such as "src/main.ts", or "." for the base itself.',
    ),

  malformedPath: (path: string, why: string): Refusal =>
    new Refusal(
      "bad-input",
      `The path ${quoteShort(path)} ${why}; send a path relative to the base folder, with "/" between names.`,
      path,
    ),

  manyNewFolders: (path: string, folders: number): Refusal =>
    new Refusal(
      "bad-input",
      `The path ${quoteShort(path)} needs more than ${folders} new folders; create the upper ones by a call of their own first, or send a path with fewer names.`,
      path,
    ),

  absolutePath: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `The path ${quoteShort(path)} is absolute; paths are relative to the base folder, so send it without the leading "/" and the folders above the base.`,
      path,
    ),

  relativePath: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `The path ${quoteShort(path)} is relative; send an absolute path, such as "/srv/data/file.txt".`,
      path,
    ),

  outside: (path: string): Refusal =>
    new Refusal(
      "outside",
      `The path ${quoteShort(path)} leaves the base folder; only files inside it can be reached. Send a path that stays inside.`,
      path,
    ),

  badLink: (path: string, linkFault?: LinkFault): Refusal =>
    new Refusal(
      "outside",
      `The path ${quoteShort(path)} goes through a symbolic link that leads outside, dangles or loops; name the real file inside the base folder instead.`,
      path,
      { linkFault },
    ),

  notAFile: (path: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `${quoteShort(path)} is not a regular file; list a folder with coder::list-folder, and name a regular file here.`,
      path,
    ),

  notAFolder: (path: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `${quoteShort(path)} is not a folder; name a folder, or read a file with coder::read-file.`,
      path,
    ),

  isAFolder: (path: string): Refusal =>
    new Refusal("wrong-kind", `${quoteShort(path)} is a folder; name the file to write inside it.`, path),

  exists: (path: string): Refusal =>
    new Refusal(
      "exists",
      `${quoteShort(path)} exists already and "overwrite" is false; send "overwrite": true to replace it, or change it with coder::update-file.`,
      path,
    ),

  /** Refuses to create a file where one is, for a call that expects none there. */
  existsUnexpectedly: (path: string): Refusal =>
    new Refusal(
      "exists",
      `${quoteShort(path)} exists already, and \`expected_revision\` is "absent"; send "overwrite": true without \`expected_revision\` to replace it, or change it with coder::update-file.`,
      path,
    ),

  /** Refuses to create a folder where a file, or anything but a folder, exists. */
  nameIsTaken: (path: string): Refusal =>
    new Refusal(
      "exists",
      `${quoteShort(path)} already exists, so the folder was not created. Send another path, or move the existing entry first.`,
      path,
    ),

  /** Refuses to put anything where a folder is. */
  folderExists: (path: string, overwrite = false): Refusal =>
    new Refusal(
      overwrite ? "wrong-kind" : "exists",
      `${quoteShort(path)} is a folder, and nothing replaces a folder; send a path inside it, or one where nothing is.`,
      path,
    ),

  /** Refuses a folder that was refilled during its removal. Its earlier content has been removed. */
  refilled: (path: string): Refusal =>
    new Refusal(
      "not-empty",
      `The folder ${quoteShort(path)} was emptied and not removed: another program puts files into it, or, on a network or FUSE mount, holds one open. Repeat the call once that program is done.`,
      path,
    ),

  /** Refuses a folder in a tree that was refilled during its removal. */
  refilledInside: (path: string): Refusal =>
    new Refusal(
      "not-empty",
      `The folder ${quoteShort(path)} was not empty once what the call had found in it was removed: another program creates or renames something in it, or, on a network or FUSE mount, holds a file of it open.`,
      path,
    ),

  /** Refuses to remove a file that was never there for long enough to be kept and removed. */
  replacedAgain: (path: string): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(path)} was not removed: each time that it was about to be, another program had just replaced it. Repeat the call once that program is done.`,
      path,
    ),

  notEmpty: (path: string): Refusal =>
    new Refusal(
      "not-empty",
      `The folder ${quoteShort(path)} is not empty; send "recursive": true to remove it with everything in it.`,
      path,
    ),

  baseIsKept: (): Refusal =>
    new Refusal(
      "bad-input",
      "The base folder itself cannot be deleted; name the files and folders in it instead.",
    ),

  /** Refuses every other change of the root itself. */
  rootIsKept: (path: string): Refusal =>
    new Refusal(
      "outside",
      `${quoteShort(path)} is the root of what can be reached, and cannot itself be changed; name something in it.`,
    ),

  tooDeep: (path: string, levels: number): Refusal =>
    new Refusal(
      "io",
      `The folder ${quoteShort(path)} has more than ${levels} levels of folders in it; delete the inner ones first.`,
      path,
    ),

  holdsMount: (path: string): Refusal =>
    new Refusal(
      "io",
      `Something is mounted at ${quoteShort(path)} or below it. Nothing was removed. Delete what lies beside the mount by its own path, or ask the user to unmount it.`,
      path,
    ),

  /** Refuses to replace, move or remove a mount point, which the kernel does not do. */
  mountPoint: (path: string): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(path)} is mounted by itself, as containers mount single files, or lies on another file system than its folder, so it cannot be replaced, moved or removed. Choose another path, or ask the user to mount the folder instead of the file.`,
      path,
    ),

  tooLarge: (path: string, limit: { key: string; bytes: number }, instead: string): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} is larger than ${limit.key} (${limit.bytes} bytes); ${instead}.`,
      path,
    ),

  replacedTooLarge: (path: string, limit: number): Refusal =>
    new Refusal(
      "too-large",
      `A replace op would make ${quoteShort(path)} larger than max_write_bytes (${limit} bytes); use a shorter replacement, or a pattern with fewer matches.`,
      path,
    ),

  /** Refuses a replacement in a text with LF and CRLF whose matches are too many for each to be placed. */
  mixedLineEnds: (path: string): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} has line ends of both kinds, and the pattern matches too often for each line to keep its own. Nothing was changed. Send a pattern with fewer matches, and repeat the call for the others.`,
      path,
    ),

  /**
   * Refuses an answer that is too large. A call that writes has done its work then, and must not be repeated
   * because of it.
   */
  answerTooLarge: (bytes: number, limit: number, effect: "reads" | "writes"): Refusal =>
    new Refusal(
      "too-large",
      effect === "writes"
        ? `The call was carried out, but its answer would take ${bytes} bytes and one message carries at most ${limit}; read the files to see the outcome, and send fewer entries at once.`
        : `The answer would take at least ${bytes} bytes and one message carries at most ${limit}; ask for less: a smaller file, a narrower path or lower limits.`,
    ),

  changed: (path: string): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(path)} was changed by another program during the call. Nothing was written. Read it again and repeat the edit.`,
      path,
    ),

  badRevision: (text: string, mayBeAbsent: boolean): Refusal =>
    new Refusal(
      "bad-input",
      `\`expected_revision\` is ${quoteShort(text)}, which is not a revision. Send "sha256:" and 64 lower-case hex digits, as a read or a write gave them${mayBeAbsent ? ', or "absent" where nothing may be there' : ""}.`,
    ),

  /**
   * Refuses a file with an unexpected revision. `details` contain at least the expected and the current one.
   */
  revisionMismatch: (path: string, details: RefusalDetails): Refusal =>
    new Refusal(
      "revision-mismatch",
      `${quoteShort(path)} has another revision than the call expects. Nothing was changed. Its current revision and the lines in question follow: repeat the call for those.`,
      path,
      { details },
    ),

  /** Refuses a call about a whole file: none of its lines are in question. */
  wholeRevisionMismatch: (path: string, details: RefusalDetails): Refusal =>
    new Refusal(
      "revision-mismatch",
      `${quoteShort(path)} has another revision than the call expects. Nothing was changed. Its current revision follows. Read the file, and repeat the call with that revision if it is still right.`,
      path,
      { details },
    ),

  /** Refuses to change a file that no one may write. Its owner and root can change its mode. */
  readOnlyFile: (path: string, mode: number): Refusal =>
    new Refusal(
      "permission",
      `${quoteShort(path)} is read-only (mode ${(mode & 0o7777).toString(8).padStart(4, "0")}). Nothing was changed. Choose another path, or make it writable first, with the op chmod of coder::transact.`,
      path,
    ),

  permission: (path: string): Refusal =>
    new Refusal(
      "permission",
      `The operating system does not permit this on ${quoteShort(path)}. Choose another path, or ask the user to change its permissions.`,
      path,
    ),

  /**
   * Refuses a failure of the system. `what` is an errno name such as ENOSPC, in words that contain no host
   * path.
   */
  io: (path: string, what: string): Refusal =>
    new Refusal(
      "io",
      `The operating system refused this on ${quoteShort(path)}: ${what}. If it happens again, ask the user.`,
      path,
    ),

  /** Refuses a call for lack of a resource. `what` is one of `shortages`; the path is unknown. */
  shortage: (what: string): Refusal =>
    new Refusal(
      "io",
      `The operating system refused what the call needs: ${what}. Repeat the call, with less at once; if it happens again, ask the user.`,
    ),

  baseGone: (): Refusal =>
    new Refusal(
      "io",
      "The base folder is gone: it was removed or moved away while the server ran. It cannot be listed or changed until it is back. Ask the user to restore it and restart the server.",
    ),

  timeout: (milliseconds: number): Refusal =>
    new Refusal(
      "timeout",
      `The call did not finish within ${milliseconds} ms and was stopped; ask for less at once: a narrower path, fewer entries, a simpler pattern.`,
      undefined,
      { ending: "deadline" },
    ),

  /** Refuses to wait longer for a call that writes, which may go on, or have made its changes already. */
  lateWrite: (milliseconds: number): Refusal =>
    new Refusal(
      "timeout",
      `The call did not finish within ${milliseconds} ms. Its changes may have been made, or may still be: read the files before you repeat it, and change less at once.`,
    ),

  /** Refuses to go on with a change of a whole folder that has begun. */
  stoppedHalfway: (milliseconds: number): Refusal =>
    new Refusal(
      "timeout",
      `The call did not finish within ${milliseconds} ms and was stopped in the middle. What it had changed by then stays changed: read the folder, then repeat the call for the rest of it, in parts.`,
    ),

  /**
   * Refuses a cancelled call. It is seldom read, since a caller that cancels no longer waits for the answer.
   */
  cancelled: (): Refusal =>
    new Refusal(
      "timeout",
      "The caller cancelled the call before it was finished; what it had done by then stays done, so read the files before you repeat it.",
      undefined,
      { ending: "cancel" },
    ),

  /** Ends a call because its worker stops. */
  stopping: (): Refusal =>
    new Refusal(
      "timeout",
      "The call was stopped before it was finished, because the program that runs it was told to end. If it changes files, read them before you repeat it.",
      undefined,
      { ending: "stop" },
    ),

  /** Like `stopping`, for a change of a whole folder that has begun. */
  stoppingHalfway: (): Refusal =>
    new Refusal(
      "timeout",
      "The call was stopped in the middle, because the program that runs it was told to end. What it had changed by then stays changed: read the folder, then repeat the call for the rest of it.",
    ),

  /** Refuses the removal of a folder that stopped after some entries of it, or none, were removed. */
  partlyRemoved: (
    { reason, message, path: stop, details }: Refusal,
    path: string,
    { removed, seq, paths, losses }: PartlyRemoved,
  ): Refusal => {
    const folder = quoteShort(path);
    const repeat = `To delete ${removed === 0 ? "it" : "the rest"}, repeat the call once nothing prevents it.`;
    const named = stop === undefined ? undefined : path;
    const options = { ...(details && { details }) };
    if (removed === 0)
      return new Refusal(
        reason,
        `${message} Nothing of the folder ${folder} is gone. ${repeat}`,
        named,
        options,
      );
    const entries = removed === 1 ? "1 entry" : `${removed} entries`;
    const gone = `${entries} of the folder ${folder} ${removed === 1 ? "is" : "are"} gone already, and the rest is still there.`;
    const which = JSON.stringify({ seq, ...(paths && { paths }) });
    const except = losses === 0 ? "" : `, except ${losses} that the journal could not keep`;
    const back = seq === undefined ? "" : ` coder::undo ${which} brings back what is gone${except}.`;
    return new Refusal(reason, `${message} ${gone}${back} ${repeat}`, named, options);
  },

  unexpected: (): Refusal =>
    new Refusal(
      "io",
      "The call failed in an unexpected way, and the failure was logged. Repeat the call once; if it fails again, tell the user.",
    ),
} as const;
