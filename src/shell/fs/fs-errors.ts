/** Refusals in the words of `shell::fs::*`. Fixed phrases are those of shell §11.2. */
import { quoteShort, type Reason, Refusal } from "../../base/errors.ts";

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

/** Returns the refusal in the words of `shell::fs::*`, if they differ. */
export function inShellWords(refusal: Refusal): Refusal {
  const { reason, path } = refusal;
  if (path === undefined) return refusal;
  if (refusal.isBelowFile)
    return new Refusal(
      "io",
      `The path ${quoteShort(path)} goes on below a file (ENOTDIR); name the file itself.`,
      path,
    );
  const sentence = sentences[reason];
  return sentence === undefined ? refusal : new Refusal(reason, sentence(path), path);
}

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

  notRecursive: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is a folder and "recursive" is false; leave "recursive" out, or name a file.`,
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
      `The channel ended after ${received} bytes and ${announced} were announced. ${quoteShort(path)} was not written. Send it again.`,
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
