/** Refusals in the words of `shell::fs::*`. Fixed phrases are those of shell §11.2. */
import { posix } from "node:path";
import { type LinkFault, quoteShort, type Reason, Refusal } from "../../base/errors.ts";
import type { ShellProfile } from "../profiles.ts";

/** The sentences that replace shared ones, which name functions of another family. */
const sentences: Readonly<Partial<Record<Reason, (path: string) => string>>> = {
  missing: (path) => `path not found: ${path}; list its folder with shell::fs::ls to see what is there.`,
  denied: (path) =>
    `The path ${quoteShort(path)}, or something below it, is on fs.denylist_paths, or decides how this worker is configured. Name something else, or ask the user.`,
  "wrong-kind": (path) =>
    `${quoteShort(path)} is of the wrong kind: shell::fs::ls takes a folder, shell::fs::read a regular file, and a recursive shell::fs::chmod no link; see shell::fs::stat.`,
  outside: (path) =>
    `The path ${quoteShort(path)} is not below fs.host_root, or is that folder itself, or goes through a dangling symlink or one that leads out of it; send the absolute path of something in it.`,
  exists: (path) =>
    `${quoteShort(path)} exists already; remove it with shell::fs::rm, or choose another name.`,
};

/** Sentences of the profile `agent` on links that a path goes through. */
const ofLinks: Readonly<Record<LinkFault, string>> = {
  dangles: "a symbolic link whose target is missing; name an entry that exists, by a path without that link",
  "leads-out":
    "a symbolic link that leads out of the served folder; only files inside it can be reached. Send a path without that link",
  loops:
    "symbolic links that lead to each other, or too many of them. Send the path of the entry without them",
};

/**
 * Returns the refusal in the words of `shell::fs::*`, if they differ. Without a profile they are those of
 * `contract`.
 */
export function inShellWords(refusal: Refusal, profile?: Pick<ShellProfile, "explained_errors">): Refusal {
  const { reason, path } = refusal;
  if (path === undefined) return refusal;
  if (refusal.isBelowFile)
    return new Refusal(
      "io",
      `The path ${quoteShort(path)} goes on below a file (ENOTDIR); name the file itself.`,
      path,
    );
  if (profile?.explained_errors) return explained(refusal, path);
  const sentence = sentences[reason];
  return sentence === undefined ? refusal : new Refusal(reason, sentence(path), path);
}

/** Returns the refusal in the words of the profile `agent`, which say what applies to this path alone. */
function explained(refusal: Refusal, path: string): Refusal {
  const { reason, linkFault, details, ending } = refusal;
  const words = explanationOf(refusal, path);
  return words === refusal.message
    ? refusal
    : new Refusal(reason, words, path, { linkFault, details, ending });
}

function explanationOf({ reason, message, linkFault }: Refusal, path: string): string {
  if (linkFault !== undefined) return `The path ${quoteShort(path)} goes through ${ofLinks[linkFault]}.`;
  switch (reason) {
    case "denied":
      return `The path ${quoteShort(path)}, or something below it, is denied by fs.denylist_paths or fs.deny_globs, or decides how this worker is configured. Name something else, or ask the user.`;
    case "missing":
    case "exists":
      return sentences[reason]!(path);
    default:
      return message.replace(quotedOrForeign, (part) => ownFunctions.get(part) ?? part);
  }
}

/** The advice of shared sentences that names functions of the coder worker, with functions of this one. */
const ownFunctions: ReadonlyMap<string, string> = new Map([
  ["read a file with coder::read-file", "look at a file with shell::fs::stat"],
  ["list a folder with coder::list-folder", "list a folder with shell::fs::ls"],
  ["with the op chmod of coder::transact", "with shell::fs::chmod"],
]);

/** Matches these, and text in quotes, since a file may be named like them. */
const quotedOrForeign =
  /"(?:[^"\\]|\\.)*"|(?:read a file with coder::read-file|list a folder with coder::list-folder|with the op chmod of coder::transact)/g;

const moveInto = (into: string | undefined): string =>
  into === undefined
    ? "Choose another name."
    : `Send "dst": ${quoteShort(into)} to move into it, or choose another name.`;

/** The refusals of `shell::fs::*` alone. */
export const refuseFs = {
  badMode: (mode: string): Refusal =>
    new Refusal(
      "bad-input",
      `The mode ${mode === "" ? "(empty)" : quoteShort(mode)} is not usable; send octal digits from "0000" to "1777", such as "0644".`,
    ),

  sourceMissing: (path: string): Refusal =>
    new Refusal(
      "missing",
      `src not found: ${path}; list its folder with shell::fs::ls to see what is there.`,
    ),

  destinationExists: (path: string): Refusal =>
    new Refusal(
      "exists",
      `dst already exists: ${path}; send "overwrite": true to replace it, or choose another name.`,
    ),

  /** Refuses to make something in a missing folder. `cure` is a sentence without its full stop. */
  folderMissing: (path: string, cure: string): Refusal =>
    new Refusal(
      "missing",
      `path not found: ${path}; its folder ${quoteShort(posix.dirname(path))} is missing. Nothing was changed. ${cure}.`,
    ),

  /** Refuses to replace a folder. `into` is the path to move into it, if that is possible. */
  destinationIsFolder: (path: string, into: string | undefined): Refusal =>
    new Refusal(
      "exists",
      `dst already exists: ${path}, which is a folder. Nothing was moved. ${moveInto(into)}`,
    ),

  destinationNotEmpty: (path: string, into: string | undefined): Refusal =>
    new Refusal(
      "not-empty",
      `dst already exists: ${path}, which is a folder that is not empty, and "overwrite" replaces only an empty one. Nothing was moved. ${moveInto(into)}`,
    ),

  noFolderOverFile: (path: string): Refusal =>
    new Refusal(
      "exists",
      `dst already exists: ${path}, which a folder cannot replace, because it is not a folder itself. Nothing was moved. Choose another name.`,
    ),

  intoItself: (path: string): Refusal =>
    new Refusal(
      "io",
      `dst lies in src, and a folder cannot be moved into itself. Nothing was moved. Send a \`dst\` outside of ${quoteShort(path)}.`,
    ),

  folderExists: (path: string): Refusal =>
    new Refusal(
      "exists",
      `${quoteShort(path)} exists already. Nothing was made. Choose another name, or send "parents": true if a folder may be there already.`,
    ),

  nameIsTaken: (path: string): Refusal =>
    new Refusal(
      "exists",
      `${quoteShort(path)} exists already and is not a folder. Nothing was made. Choose another name.`,
    ),

  notRecursive: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is a folder and "recursive" is false; leave "recursive" out, or name a file.`,
    ),

  recursiveLink: (path: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `${quoteShort(path)} is a link, and a recursive shell::fs::chmod goes through none. Nothing was changed. Name the folder that it leads to, or send "recursive": false.`,
    ),

  longGlobs: (field: string, longest: number): Refusal =>
    new Refusal(
      "bad-input",
      `The globs in ${field} are longer than ${longest} characters together; send fewer or shorter ones.`,
    ),

  whichFiles: (): Refusal =>
    new Refusal("bad-input", 'Send exactly one of "files", with at least one path, and "path".'),

  emptyLiteral: (): Refusal =>
    new Refusal("bad-input", 'The pattern is empty and "regex" is false; send the text to replace.'),

  notUtf8: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not valid UTF-8, so a replacement could damage it. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "windows-1252".`,
    ),

  contentIsNotUtf8: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `The content for ${quoteShort(path)} is not valid UTF-8, which is what \`encoding\` converts from. Nothing was changed. Send the text in UTF-8, or leave \`encoding\` out to write the bytes unchanged.`,
      path,
    ),

  encodingInSandbox: (): Refusal =>
    new Refusal(
      "bad-input",
      "The field `encoding` is for files of the host, and not for the sandbox target. Nothing was done. Leave one of the two out.",
    ),

  idle: (path: string, milliseconds: number): Refusal =>
    new Refusal(
      "io",
      `channel idle: nothing came for ${milliseconds} ms. ${quoteShort(path)} was not written. Send the bytes without pauses and close the channel.`,
    ),

  stopping: (path: string): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(path)} was not written: the server is stopping; send it again when it is back.`,
    ),

  channel: (path: string): Refusal =>
    new Refusal(
      "io",
      `The channel for ${quoteShort(path)} cannot be used: it does not exist, its access key is wrong, or it was cut; create a new one.`,
    ),

  badChannel: (id: string): Refusal =>
    new Refusal(
      "bad-input",
      `bad write payload: the field content.channel_id is ${quoteShort(id)}; expected what engine::channels::create gave: letters, digits and hyphens, at most 64.`,
    ),

  sender: (path: string): Refusal =>
    new Refusal(
      "io",
      `The sender reported an error on the channel. ${quoteShort(path)} was not written. Send it again.`,
    ),

  incomplete: (path: string, received: number, announced: number): Refusal =>
    new Refusal(
      "io",
      `The channel ended after ${received} bytes and ${announced} were announced. ${quoteShort(path)} was not written. Send all of its bytes, and as \`size\` their number, or leave \`size\` out.`,
    ),

  tooLong: (path: string, limit: number): Refusal =>
    new Refusal(
      "too-large",
      `More than fs.max_write_bytes (${limit} bytes) came for ${quoteShort(path)}. Nothing was written. Send less, or split it over several files.`,
    ),

  tooManyTransfers: (most: number): Refusal =>
    new Refusal(
      "io",
      `${most} files are being read or written at once, which is the most; try again when one is done.`,
    ),
} as const;

/** Returns the error about one file in a call that has changed others, which must not be changed twice. */
export const onlyThere = (message: string, path: string): string =>
  `${message.replace("Nothing was changed.", "This file was not changed.")} The call has changed other files: to repeat it for this one alone, send "files": [${JSON.stringify(path)}] and no "path".`;

/** Returns the refusal of a new entry, which is missing only if its folder is. */
export const explainedMissing = (refusal: Refusal, path: string): Refusal =>
  refusal.reason === "missing" && !refusal.isBelowFile
    ? refuseFs.folderMissing(path, 'Send "parents": true to make it too')
    : refusal;
