/** The entries at a path at two times, and the difference between them. */
import { isUtf8 } from "node:buffer";
import { Refusal } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Cause } from "../../filesystem/feed/change.ts";
import { readWholeFile } from "../../filesystem/files/read.ts";
import type { TreeState } from "../../filesystem/journal/restored-tree.ts";
import { Restoration } from "../../filesystem/overlay/restore.ts";
import { diffLines } from "../../text/edits/line-diff.ts";
import { unifiedDiff } from "../../text/edits/unified-diff.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { decodeText } from "../../text/encodings/open-text.ts";
import { baseTree } from "../checkpoints/base-tree.ts";
import type { CoderContext } from "../define.ts";
import { configuredEncoding } from "../fields/file-encoding.ts";
import type { CurrentTree, ReadContent } from "./rewound-tree.ts";

/** An entry at one of the times. */
export interface EntryThen {
  readonly state: TreeState;
  /** Returns the content of a file; `undefined` if it is not known. */
  content(): ReadContent;
}

/** Returns the tree on disk, read once for each path. A path that the call may not see is absent. */
export function diskView(context: CoderContext): CurrentTree {
  const tree = baseTree(context);
  const restoring = new Restoration(tree, context);
  const states = new Map<string, TreeState>();
  const unlessRefusal = (error: unknown): undefined => {
    if (!(error instanceof Refusal)) throw error;
  };
  const unlessRefused = <T>(act: () => T): T | undefined => {
    try {
      return act();
    } catch (error) {
      return unlessRefusal(error);
    }
  };
  const limit = { key: "max_write_bytes", bytes: maxComparedBytes };
  const note = (path: string, state: TreeState = { kind: "absent" }): TreeState => {
    states.set(path, state);
    return state;
  };
  return {
    state: (path) =>
      states.get(path) ??
      note(
        path,
        unlessRefused(() => restoring.state(path)),
      ),
    stateInSlices(path, unhashed) {
      const known = states.get(path);
      if (known !== undefined && !isNotHashed(known)) return known;
      const state = unlessRefused(() => restoring.stateInSlices(path, unhashed));
      if (!(state instanceof Promise)) return note(path, state);
      return state.catch(unlessRefusal).then((found) => note(path, found));
    },
    read: (path) => {
      try {
        return readWholeFile(tree.jail, path, { limit, use: (body) => Buffer.from(body) });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return error.reason === "too-large" ? "too-large" : undefined;
      }
    },
  };
}

const isNotHashed = (state: TreeState): boolean => state.kind === "file" && state.revision === "";

/** A change of a path between both times. */
export interface NetDifference {
  readonly kind: "created" | "modified" | "deleted" | "moved";
  /** The current path, or the earlier one of a removed entry. */
  readonly path: string;
  /** The earlier path, if it differs. */
  readonly from?: string | undefined;
  readonly before: EntryThen;
  readonly after: EntryThen;
  /** The checkpoints that made it. */
  readonly seqs: readonly number[];
  /** The causes that have no checkpoint: other programs, and commands. */
  readonly others: readonly Cause[];
  /** The reason for showing no diff, if any. */
  readonly unknown?: string | undefined;
  /** Whether the entry may be unchanged, since changes that are not known may have cancelled this one. */
  readonly isDoubtful?: boolean;
  /** The files in a folder that was moved as a whole, relative to it. */
  readonly inside?: readonly string[] | undefined;
}

const absent: EntryThen = { state: { kind: "absent" }, content: () => undefined };
export const nothing = absent;

const fileMode = ({ state }: EntryThen): number | undefined =>
  state.kind === "file" ? state.mode : undefined;

/** Returns whether the entries of both times are equal. */
export function areEqual({ state: one }: EntryThen, { state: other }: EntryThen): boolean {
  if (one.kind === "file" && other.kind === "file")
    return one.mode === other.mode && one.revision === other.revision;
  if (one.kind === "symlink" && other.kind === "symlink") return one.text.equals(other.text);
  if (one.kind === "dir" && other.kind === "dir") return one.mode === other.mode;
  return one.kind === other.kind;
}

export interface FileDiff {
  /** The patch in git's format, which coder::apply-patch takes. */
  readonly diff: string;
  readonly added: number;
  readonly removed: number;
  readonly isTruncated: boolean;
}

/** Maximum bytes of both contents together; comparing more takes long. */
const maxComparedBytes = 16 * 1024 * 1024;

/** The size and the form of a diff. */
interface DiffForm {
  readonly maxBytes: number;
  /** The encoding of files without a byte order mark whose encoding the configuration does not name. */
  readonly encoding?: Encoding | undefined;
}

/** Returns the difference, or the reason for showing none. */
export function* compare(
  change: NetDifference,
  { maxBytes, encoding }: DiffForm,
  context: CoderContext,
): Steps<FileDiff | string> {
  const { unknown, before, after, inside } = change;
  if (unknown !== undefined) return unknown;
  if (inside !== undefined) return renamesOf(change, inside, maxBytes);
  const kinds = [before.state.kind, after.state.kind];
  if (kinds.some((kind) => kind === "dir")) return "a folder";
  if (kinds.some((kind) => kind === "symlink")) return "a link";
  if (kinds.some((kind) => kind === "other")) return "a special file";
  if (kinds.every((kind) => kind === "absent")) return "it was not there, neither before nor after";
  const was = contentOf(before);
  yield;
  const is = contentOf(after);
  yield;
  if (was === undefined || is === undefined) return "its content cannot be read";
  if (was === "too-large" || is === "too-large" || was.length + is.length > maxComparedBytes)
    return "it is too large to compare";
  const isEdited = kinds.every((kind) => kind === "file");
  const encodings = { of: encoding, context };
  const { old, now } = isEdited ? yield* textsOf(change, was, is, encodings) : { old: was, now: is };
  const wasText = isText(old);
  yield;
  if (!wasText || !isText(now))
    return isEdited && encoding === undefined && !old.includes(0) && !now.includes(0)
      ? 'it is not text in UTF-8; with "encoding", such as "windows-1252", its text is compared'
      : "it is not text in UTF-8";
  const header = headerOf(change);
  if (header === undefined) return "its name has characters that a patch cannot hold";
  yield;
  const splices = yield* diffLines(old, now);
  yield;
  const { diff, isTruncated } = yield* unifiedDiff(
    change.path,
    { before: old, after: now, splices },
    { header: "", maxBytes },
  );
  yield;
  const isOfModes = splices.length === 0 && !header.lines.includes("\n", header.lines.indexOf("\n") + 1);
  if (isOfModes) return modesOf(change);
  const names = diff === "" ? "" : header.names;
  return {
    diff: `${header.lines}${names}${diff}`,
    isTruncated,
    ...(yield* countLines(splices, { old, now })),
  };
}

/**
 * Returns the texts of a file that was edited, as `coder::apply-patch` sees them, or its bytes if the edit
 * changed more than the text.
 */
function* textsOf(
  { path, from = path }: NetDifference,
  was: Buffer,
  is: Buffer,
  { of, context }: { readonly of: Encoding | undefined; readonly context: CoderContext },
): Steps<{ old: Buffer; now: Buffer }> {
  const bytes = { old: was, now: is };
  if (!context.profile.keeps_line_ends) return bytes;
  const old = yield* decodeText(was, configuredEncoding(from, context) ?? of);
  const now = yield* decodeText(is, configuredEncoding(path, context) ?? of);
  yield;
  const isSameForm = old.encoding === now.encoding && old.endsInReturns === now.endsInReturns;
  return isSameForm && !old.text.equals(now.text) ? { old: old.text, now: now.text } : bytes;
}

/** Describes a change of permission bits that a patch cannot hold, or of nothing. */
function modesOf({ before, after }: NetDifference): string {
  const [was, is] = [before, after].map((side) => (fileMode(side) ?? 0).toString(8).padStart(4, "0"));
  return was === is ? "its content and its mode did not change" : `its mode was ${was} and is ${is}`;
}

const contentOf = (side: EntryThen): ReadContent =>
  side.state.kind === "absent" ? Buffer.alloc(0) : side.content();

const isText = (content: Buffer): boolean => !content.includes(0) && isUtf8(content);

const isPlain = (path: string): boolean => !/["\\\p{C}\ufffd]/u.test(path);

/** Returns git's lines before the hunks, and those with both names, unless a name needs quotes. */
function headerOf({ kind, path, from, before, after }: NetDifference) {
  const old = from ?? path;
  if (!isPlain(path) || !isPlain(old)) return undefined;
  const [oldMode, mode] = [fileMode(before), fileMode(after)].map((bits) =>
    bits === undefined ? undefined : (bits & 0o100) === 0 ? "100644" : "100755",
  );
  const lines = [
    `diff --git a/${old} b/${path}`,
    ...(oldMode === undefined ? [`new file mode ${mode}`] : []),
    ...(mode === undefined ? [`deleted file mode ${oldMode}`] : []),
    ...(oldMode && mode && oldMode !== mode ? [`old mode ${oldMode}`, `new mode ${mode}`] : []),
    ...(kind !== "deleted" && from !== undefined ? [`rename from ${from}`, `rename to ${path}`] : []),
  ];
  const names = [
    oldMode === undefined ? "--- /dev/null" : `--- a/${old}`,
    mode === undefined ? "+++ /dev/null" : `+++ b/${path}`,
  ];
  const joined = (some: readonly string[]) => some.map((line) => `${line}\n`).join("");
  return { lines: joined(lines), names: joined(names) };
}

/** Returns the renames of all files in a folder that was moved. */
function renamesOf({ path, from }: NetDifference, inside: readonly string[], maxBytes: number): FileDiff {
  let [diff, isTruncated] = ["", false];
  for (const name of inside) {
    const [old, now] = [`${from}/${name}`, `${path}/${name}`];
    const lines = `diff --git a/${old} b/${now}\nrename from ${old}\nrename to ${now}\n`;
    if (!isPlain(old) || !isPlain(now) || diff.length + lines.length > maxBytes) isTruncated = true;
    else diff += lines;
  }
  return { diff, added: 0, removed: 0, isTruncated };
}

function* countLines(
  splices: readonly { readonly from: number; readonly to: number; readonly length: number }[],
  { old, now }: { readonly old: Buffer; readonly now: Buffer },
): Steps<{ added: number; removed: number }> {
  let [added, removed, shift] = [0, 0, 0];
  for (const { from, to, length } of splices) {
    removed += yield* linesIn(old, from, to);
    added += yield* linesIn(now, from + shift, from + shift + length);
    shift += length - (to - from);
  }
  return { added, removed };
}

function* linesIn(text: Buffer, from: number, to: number): Steps<number> {
  let lines = 0;
  for (let at = from; at < to; lines++) {
    if (lines % 4096 === 4095) yield;
    const end = text.indexOf(0x0a, at);
    at = end < 0 || end >= to ? to : end + 1;
  }
  return lines;
}
