/** The facts known about a missing path: similar names, and the calls that moved or deleted it. */

import { isAscii, isUtf8 } from "node:buffer";
import { dirname, join, relative, resolve } from "node:path";
import { Refusal, refuse } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { nearestFileName } from "../../base/similar-name.ts";
import type { FailedCall } from "../../calls/contract/definition.ts";
import { ancestorsOf, namesOf, pathIn } from "../../filesystem/jail/backend.ts";
import { fold } from "../../filesystem/jail/fold-path.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { type EntryKind, kindOf } from "../../filesystem/jail/kind.ts";
import { type ChangedPath, changedPaths } from "../../filesystem/journal/changed-paths.ts";
import type { Journal } from "../../filesystem/journal/journal.ts";
import type { JournalRecord, RecordedStep } from "../../filesystem/journal/read-record.ts";
import { recentRecords } from "../../filesystem/journal/recent-records.ts";
import { effectAt } from "../../filesystem/journal/step-effects.ts";
import { requireWritableFolder } from "../../filesystem/operations/require-writable.ts";
import type { WatchedFolder, WatchedTree } from "../../filesystem/watch/watched-tree.ts";
import { findConfusables } from "../../text/edits/confusables.ts";
import { type ExcludeGlobs, excludesPath } from "../../text/globs/exclude-globs.ts";
import { endsOf, isShown, plainPath } from "../checkpoints/recorded-paths.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { renderName } from "../render/entry-text.ts";

/** The sources of facts about a missing path. */
export interface Knowledge {
  readonly jail: Jail;
  /** The jail of the disk, if `jail` is that of a plan. */
  readonly onDisk?: Jail;
  readonly journal: Journal | undefined;
  /** The call that the error ends, if it is known. */
  readonly call?: FailedCall | undefined;
  /** The globs of names that are not suggested. */
  readonly defaultExcludes: ExcludeGlobs;
  /** Returns the watched tree of each root, with the name of the root, if the tree is complete. */
  listedTrees(): readonly { readonly name: string; readonly tree: WatchedTree }[];
}

const maxCandidates = 3;

/** Maximum names of a path that is explained. Each name takes a walk from the base. */
const maxNames = 64;

/** The refusals that are already explained, by the tree where their paths are missing. */
const explained = new WeakSet<Refusal>();

/** Keeps a refusal from being explained again if the one that it was made from is. */
export function explainedLike(refusal: Refusal, from: Refusal): Refusal {
  if (explained.has(from)) explained.add(refusal);
  return refusal;
}

/**
 * Returns the refusal of a missing path or of a useless link with the known facts, and any other error
 * unchanged. A path that is denied only through a link is refused in the same words, so the facts depend only
 * on names that the call may see.
 */
export function explainAbsence(error: unknown, knowledge: Knowledge): unknown {
  if (!(error instanceof Refusal) || explained.has(error)) return error;
  const refusal = withFacts(error, knowledge);
  explained.add(refusal);
  return refusal;
}

/** A move that an earlier entry of the call made, or would make. */
export interface EarlierMove {
  readonly from: string;
  readonly to: string;
}

/** Returns the refusal of a path that earlier moves took away with the path that these leave it at. */
export function explainMoved(
  error: unknown,
  moves: readonly EarlierMove[],
  { tree: { jail }, profile }: Pick<CoderContext, "tree" | "profile">,
): unknown {
  if (!profile.explained_errors || !(error instanceof Refusal) || error.path === undefined) return error;
  const plain = refuse.absent(error.path, "missing").message;
  if (explained.has(error) || !error.message.endsWith(plain)) return error;
  const path = plainPath(error.path, jail);
  const moved = movedTo(
    path,
    moves.map(({ from, to }) => ({ from: plainPath(from, jail), to: plainPath(to, jail) })),
  );
  const now = moved === undefined || isThere(path, jail) ? undefined : sendable(moved, jail);
  if (now === undefined) return error;
  const sentence = `A change before it in this call moves it to ${renderName(now)}.`;
  const refusal = refuseCoder.explainedAbsence(error, plain, [sentence]);
  explained.add(refusal);
  return refusal;
}

/** Returns the path that moves leave an entry at, from the last one that took it away. */
function movedTo(path: string, moves: readonly EarlierMove[]): string | undefined {
  const covers = (at: string) => (move: EarlierMove) => at === move.from || at.startsWith(`${move.from}/`);
  const first = moves.findLastIndex(covers(path));
  if (first < 0) return undefined;
  let at = path;
  for (const move of moves.slice(first)) if (covers(at)(move)) at = move.to + at.slice(move.from.length);
  return at;
}

/** Runs `work`. Its error on a planned tree gets the facts about its path in that tree. */
export async function explainInPlan<T>(
  work: () => T | Promise<T>,
  { tree, jail, explain }: CoderContext,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw tree.isPlanned ? explain(error, tree.jail, { onDisk: jail }) : error;
  }
}

function withFacts(error: Refusal, knowledge: Knowledge): Refusal {
  if (error.path === undefined) return error;
  const badLink = refuse.badLink(error.path).message;
  const linked = error.message.endsWith(badLink) ? pathInOtherRoot(error.path, knowledge.jail) : undefined;
  if (linked !== undefined) return refuseCoder.linkToOtherRoot(error, badLink, linked);
  if (error.message.endsWith(badLink))
    return isVisible("symlink", error.path, knowledge.jail) ? refuseCoder.uselessLink(error, badLink) : error;
  const plain = refuse.absent(error.path, "missing").message;
  if (!error.message.endsWith(plain)) return error;
  if (isVisible("dir", error.path, knowledge.jail)) return refuseCoder.holdsDenied(error, plain);
  const sentences = sentencesAbout(error.path, knowledge);
  return sentences.length === 0 ? error : refuseCoder.explainedAbsence(error, plain, sentences);
}

/**
 * Returns whether a refused path is an entry of that kind which the call sees. The refusal is then about what
 * is in the folder, or where the link leads.
 */
function isVisible(kind: EntryKind, sent: string, jail: Jail): boolean {
  try {
    const path = plainPath(sent, jail);
    return path !== "" && !namesOf(path).includes("..") && kindAt(path, jail) === kind;
  } catch {
    return false;
  }
}

function sentencesAbout(sent: string, knowledge: Knowledge): string[] {
  try {
    const path = plainPath(sent, knowledge.jail);
    const sentNames = namesOf(path);
    if (path === "" || sentNames.length > maxNames || sentNames.includes("..")) return [];
    const kind = kindAt(path, knowledge.jail);
    if (kind === undefined && knowledge.onDisk !== undefined && isThere(path, knowledge.onDisk))
      return ["A change before it in this call moves or removes it."];
    const onlyFolders = takesFolders(knowledge);
    if (kind === "file" && sent.endsWith("/"))
      return [
        onlyFolders ? sayFiles([path]) : `${renderName(path)} is a file; leave out the "/" at its end.`,
      ];
    if (kind !== undefined) return [];
    const several = pathsIn(path, knowledge.jail);
    if (several.length > 0 && !(onlyFolders && several.some((one) => isFileAt(one, knowledge.jail))))
      return [
        `These are ${several.length} paths: ${several.map(renderName).join(" and ")}. Send each by itself.`,
      ];
    const file = fileAbove(path, knowledge.jail);
    if (file !== undefined) return [`${renderName(file)} is a file, so nothing is below it.`];
    const inRoots = pathsInRoots(path, knowledge.jail);
    if (inRoots.length > 0 && !(onlyFolders && inRoots.some((one) => isFileAt(one, knowledge.jail))))
      return [sayRoots(inRoots, knowledge.jail)];
    const { sentence, path: moved } = fateOf(path, knowledge);
    const named = [
      separated(path),
      decoded(path),
      otherSpelling(path, knowledge),
      ...sameNames(path, knowledge),
    ].filter((one): one is string => one !== undefined && one !== moved && one !== path);
    const isKnown = sentence !== undefined || named.some((one) => isThere(one, knowledge.jail));
    const near = isKnown ? named : [similarName(path, knowledge.jail)].filter((one) => one !== undefined);
    const most = maxCandidates - (sentence === undefined ? 0 : 1);
    const there = [...new Set(near)].filter((one) => isThere(one, knowledge.jail));
    const files = onlyFolders ? there.filter((one) => isFileAt(one, knowledge.jail)) : [];
    const proposed = files.length === there.length ? files : there.filter((one) => !files.includes(one));
    const names = proposed.flatMap((one) => sendable(one, knowledge.jail) ?? []).slice(0, most);
    const areFiles = files.length > 0 && proposed === files;
    const asked = areFiles ? sayFiles(names) : `Did you mean ${names.map(renderName).join(" or ")}?`;
    const question = names.length === 0 ? [] : [asked];
    return [
      ...(sentence === undefined ? [] : [sentence]),
      ...question,
      ...sayDifference(names, sent),
      ...(path.includes("\ufffd") ? [undecodable] : []),
    ];
  } catch {
    // The error is useful without them.
    return [];
  }
}

/** Returns whether the call lists a folder, and takes no file in its place. */
export const takesFolders = ({ call }: Pick<Knowledge, "call">): boolean =>
  call !== undefined && ["coder::tree", "coder::list-folder"].includes(call.functionId);

/** Says that these names are those of files, to a call that takes folders. */
export const sayFiles = (names: readonly string[]): string =>
  `There is ${names.length === 1 ? "a file" : "files"} ${names.map(renderName).join(" and ")}; name a folder, or read a file with coder::read-file.`;

export const isFileAt = (path: string, jail: Jail): boolean => kindAt(path, jail) === "file";

/** The advice on a name with U+FFFD, which listings show for bytes that are not UTF-8. */
const undecodable =
  "If its name is not UTF-8, no call can name it: move, copy or delete its folder, or ask the user to rename it.";

/** Returns the paths in the roots that have an entry at a path without a root, the writable ones first. */
function pathsInRoots(path: string, jail: Jail): string[] {
  const [first] = namesOf(path);
  if (!jail.hasTop || jail.roots.some(({ name }) => name === first)) return [];
  const writableFirst = jail.roots.toSorted(
    (one, other) => Number(one.isReadOnly) - Number(other.isReadOnly),
  );
  return writableFirst.map(({ name }) => pathIn(name, path)).filter((one) => isThere(one, jail));
}

/** Maximum roots that are named for one path. */
const maxRoots = 10;

function sayRoots(paths: readonly string[], jail: Jail): string {
  const named = paths.slice(0, maxRoots).flatMap((path) => {
    const sent = sendable(path, jail);
    return sent === undefined ? [] : `${renderName(sent)}${jail.isReadOnly(path) ? " (read-only)" : ""}`;
  });
  if (paths.length === 1) return `Did you mean ${named[0]}?`;
  const more = paths.length > maxRoots ? ` and ${paths.length - maxRoots} more` : "";
  return `It exists in ${paths.length} roots: ${named.join(", ")}${more}. Send the one that you mean.`;
}

/**
 * Returns the path of an entry in another root that a link on the path leads to, by the text of that link, if
 * the call sees both.
 */
function pathInOtherRoot(sent: string, jail: Jail): string | undefined {
  try {
    const names = namesOf(plainPath(sent, jail));
    if (!jail.hasTop || names.length > maxNames || names.includes("..")) return undefined;
    const depth = names.findIndex(
      (_, index) => kindAt(names.slice(0, index + 1).join("/"), jail) === "symlink",
    );
    if (depth < 1) return undefined;
    using link = jail.fromBase().admit(names.slice(0, depth + 1).join("/"), { lastLink: "bare" });
    const text = link.folder.readLink(link.name).toString();
    const target = resolve(dirname(jail.hostPath(link.path)), text, ...names.slice(depth + 1));
    const holding = jail.roots.filter(({ hostPath }) => `${target}/`.startsWith(`${hostPath}/`));
    const [innermost] = holding.sort((one, other) => other.hostPath.length - one.hostPath.length);
    const path = innermost && join(innermost.name, relative(innermost.hostPath, target));
    return path !== undefined && isThere(path, jail) ? sendable(path, jail) : undefined;
  } catch {
    // The error is useful without it.
    return undefined;
  }
}

/** Returns the path with the separators of this system, if it has those of Windows. */
const separated = (path: string): string | undefined =>
  path.includes("\\") ? path.replaceAll("\\", "/").replace(/^(?:\.?\/)+/, "") : undefined;

/** Returns the path without the escapes of a URL or a shell, if it has any. */
export function decoded(path: string): string | undefined {
  try {
    const plain = path.replaceAll(/\\(?=[\s()&'"])/g, "");
    const text = /%[0-9a-f]{2}/i.test(plain) ? decodeURIComponent(plain) : plain;
    const names = namesOf(text).filter((name) => name !== "" && name !== ".");
    return text === path || names.includes("..") || text.includes("\0") ? undefined : names.join("/");
  } catch {
    return undefined;
  }
}

/** Returns the paths in a text with commas or blanks between them, if there are several and all exist. */
function pathsIn(text: string, jail: Jail): string[] {
  const paths = text.split(/\s*,\s*|\s+/).filter((one) => one !== "");
  const areThere = paths.length > 1 && paths.length <= maxPaths && paths.every((one) => isThere(one, jail));
  return areThere ? paths : [];
}

const maxPaths = 20;

/** Returns the path with its first missing name replaced by a similar name in that folder. */
function similarName(path: string, jail: Jail): string | undefined {
  const names = namesOf(path);
  const depth = names.findIndex((_, index) => !isThere(names.slice(0, index + 1).join("/"), jail));
  const folder = names.slice(0, depth).join("/");
  const isNear = (other: string) => nearestFileName(names[depth]!, [other]) !== undefined;
  const near = nearestFileName(
    names[depth]!,
    namesIn(folder, jail.fromBase(), { isWanted: isNear, room: { entries: maxEntries } }),
  );
  return near && [...names.slice(0, depth), near, ...names.slice(depth + 1)].join("/");
}

/** Returns the nearest path above that a call may see, if that is a file. */
function fileAbove(path: string, jail: Jail): string | undefined {
  for (const above of ancestorsOf(path)) {
    const kind = kindAt(above, jail);
    if (kind === "file") return above;
    // Nothing is below a missing folder, but a call may see less above its scope than in it.
    if (kind === undefined && jail.scope?.contains(above) !== false) return undefined;
  }
  return undefined;
}

/** Describes the first characters that differ in a name that looks like the sent one. */
function sayDifference(names: readonly string[], sent: string): string[] {
  for (const name of names) {
    const alike = findConfusables(name, sent.replace(/^(?:\.?\/)+/, ""));
    if (alike !== undefined)
      return [`They look alike: ${renderName(name)} has ${alike.found} where you sent ${alike.sent}.`];
  }
  return [];
}

/**
 * Returns a path in the form that the call would send, or `undefined` if it is not below the folder where the
 * call's paths start.
 */
export function sendable(path: string, { scope }: Jail): string | undefined {
  const above = scope === undefined || scope.root.length === 0 ? "" : `${scope.root.join("/")}/`;
  return path.startsWith(above) ? path.slice(above.length) : undefined;
}

/** Returns whether the call can see an entry at `path`, which is relative to the base. */
export const isThere = (path: string, jail: Jail): boolean => kindAt(path, jail) !== undefined;

/** Returns the kind of the entry that the call can see at `path`, without following links. */
function kindAt(path: string, jail: Jail): EntryKind | undefined {
  if (jail.denies(namesOf(path)) || jail.scope?.contains(path) === false) return undefined;
  try {
    using place = jail.fromBase().admit(path, { lastLink: "bare" });
    return place.stats && (kindOf(place.stats) ?? "other");
  } catch {
    return undefined;
  }
}

const goneIn = new WeakMap<JournalRecord, readonly ChangedPath[]>();

/** Returns the paths that a record deleted or moved. Every missing path of a batch needs them. */
function takenAway(record: JournalRecord): readonly ChangedPath[] {
  let gone = goneIn.get(record);
  if (gone === undefined) {
    const changed = runAtOnce(changedPaths(record.steps));
    // A name that is not UTF-8 may be another one in each record.
    const isKnown = ({ path, unavailable }: ChangedPath) => !(unavailable && path.includes("\ufffd"));
    gone = changed.filter((one) => (one.change === "deleted" || one.change === "moved") && isKnown(one));
    goneIn.set(record, gone);
  }
  return gone;
}

const removedIn = new WeakMap<JournalRecord, ReadonlySet<string>>();

/** Returns the paths of all entries that a record deleted. */
function removedBy(record: JournalRecord): ReadonlySet<string> {
  const known = removedIn.get(record);
  if (known !== undefined) return known;
  const removed = new Set(
    takenAway(record).flatMap(({ path, change }) => (change === "deleted" ? path : [])),
  );
  removedIn.set(record, removed);
  return removed;
}

interface Fate {
  readonly sentence?: string;
  /** The path that the entry has now, if it was moved. */
  readonly path?: string;
}

/** Maximum steps, of all records together, that are searched for the fate of a path. */
const maxSteps = 2000;

/**
 * Returns the newest records until one has too many steps, since what older ones say may not hold after it.
 */
function followedRecords(journal: Journal): readonly JournalRecord[] {
  const records = recentRecords(journal);
  let steps = 0;
  const end = records.findIndex((record) => {
    steps += record.steps.length;
    return steps > maxSteps;
  });
  return end === -1 ? records : records.slice(0, end);
}

/** Returns the changes of calls to a path, from the journal. */
function fateOf(path: string, { jail, journal }: Knowledge): Fate {
  if (journal === undefined) return {};
  const isBelow = (folder: string) => path === folder || path.startsWith(`${folder}/`);
  let at = path;
  let movedBy: number | undefined;
  const records = followedRecords(journal);
  const first = records.findIndex(
    (record) =>
      removedBy(record).has(path) ||
      takenAway(record).some(({ from, change }) => change === "moved" && isBelow(from!)),
  );
  for (let index = first; index >= 0; index--) {
    const record = records[index]!;
    const { seq } = record;
    for (const gone of takenAway(record)) {
      const { path: changed, from, change, unavailable } = gone;
      const covers = (folder: string) => at === folder || at.startsWith(`${folder}/`);
      if (!covers(from ?? changed) || !isShown(gone, jail)) continue;
      if (change === "moved" && from !== undefined) {
        at = changed + at.slice(from.length);
        movedBy = seq;
      } else if (change === "deleted" && removedBy(record).has(at) && !isThere(at, jail)) {
        const since = sinceDeletion(at, records.slice(0, index), jail);
        const call = unavailable || since !== "" ? undefined : undoOfDeletion(at, record, jail);
        const what = at === path ? "it" : renderName(sendable(at, jail) ?? at);
        const back = call === undefined ? since : `; coder::undo ${call} brings ${what} back`;
        const before = movedBy === undefined ? "" : `moved by #${movedBy}, and `;
        return { sentence: `It was ${before}deleted by #${seq}${back}.` };
      }
    }
  }
  const now = movedBy !== undefined && isThere(at, jail) ? sendable(at, jail) : undefined;
  return now === undefined
    ? {}
    : { sentence: `It was moved to ${renderName(now)} by #${movedBy}.`, path: at };
}

/**
 * Returns the clause for what later records left at a path where nothing is now, the newest first, or "" if
 * they left it deleted.
 */
function sinceDeletion(at: string, later: readonly JournalRecord[], jail: Jail): string {
  for (const { seq, steps } of later) {
    const meets = ({ path, from = path, ...step }: RecordedStep) =>
      [path, from].some((end) => at === end || at.startsWith(`${end}/`)) && isShown({ path, from }, jail)
        ? (effectAt({ path, from, ...step }, at) ?? [])
        : [];
    const last = steps.flatMap(meets).at(-1);
    if (last === undefined) continue;
    if (last.after === undefined) return `, and #${seq} has changed it or its folder since`;
    if (last.after.kind !== "absent")
      return `, was there again after #${seq}, and a change without a checkpoint has removed it since`;
  }
  return "";
}

/** Returns the fields of the undo that restores a path, and no other if possible, if one surely does. */
function undoOfDeletion(at: string, record: JournalRecord, jail: Jail): string | undefined {
  const deleted = removedBy(record);
  const outermost = [...ancestorsOf(at), at].find((one) => deleted.has(one));
  if (outermost === undefined || !isFree(outermost, jail)) return undefined;
  const selects = (path: string) => path === outermost || path.startsWith(`${outermost}/`);
  const own = record.steps.filter((step) => endsOf(step).some(selects));
  // Only plain deletions cannot conflict where nothing is now.
  const isPlain = own.every(
    (step) => step.kind === "remove" && step.unavailable === undefined && isShown(step, jail),
  );
  const sent = sendable(outermost, jail);
  if (!isPlain || sent === undefined) return undefined;
  return JSON.stringify({ seq: record.seq, ...(own.length < record.steps.length && { paths: [sent] }) });
}

/** Returns whether an undo may make an entry at a path where nothing is now. */
function isFree(path: string, jail: Jail): boolean {
  const folder = dirname(path);
  if (isThere(path, jail) || (folder !== "." && kindAt(folder, jail) !== "dir")) return false;
  try {
    const options = { lastLink: "bare", isRecorded: true, changes: "entry", mayBeMissing: true } as const;
    using place = jail.fromBase().admit(path, options);
    requireWritableFolder(place.folder, path);
    return place.path === path;
  } catch {
    return false;
  }
}

/** Maximum entries of all folders that are read to find a name. */
const maxEntries = 10_000;

/** Returns the path whose names differ only in case or in Unicode form. */
function otherSpelling(path: string, { jail }: Knowledge): string | undefined {
  const base = jail.fromBase();
  const room = { entries: maxEntries };
  const below = (found: string, [name, ...rest]: readonly string[]): string | undefined => {
    if (name === undefined) return found;
    const within = (one: string) => (rest.length === 0 || isFolder(one, base) ? below(one, rest) : undefined);
    const exact = pathIn(found, name);
    // The innermost folders come first, since the room is for all.
    const whole = isThere(exact, jail) ? within(exact) : undefined;
    if (whole !== undefined) return whole;
    const folded = fold(name);
    const isWanted = (text: string) => text !== name && fold(text) === folded;
    for (const other of namesIn(found, base, { isWanted, room }).slice(0, maxCandidates)) {
      const one = within(pathIn(found, other));
      if (one !== undefined) return one;
    }
    return undefined;
  };
  return below("", namesOf(path));
}

function isFolder(path: string, base: Jail): boolean {
  try {
    base.admitFolder(path).close();
    return true;
  } catch {
    return false;
  }
}

interface Reading {
  readonly isWanted: (name: string) => boolean;
  /** The number of entries that may still be read. */
  readonly room: { entries: number };
}

/** Entries that take as long to read as opening a folder does. */
const entriesOfOpening = 50;

/** Bytes of a name beyond ASCII whose folding takes as long as reading an entry. */
const bytesOfFolding = 16;

/** Returns the wanted names in a folder, or none if the call may not list it. */
function namesIn(path: string, jail: Jail, { isWanted, room }: Reading): string[] {
  if (jail.scope?.contains(path) === false || room.entries <= 0) return [];
  room.entries -= entriesOfOpening;
  using folder = jail.admitFolder(path || ".");
  const found: string[] = [];
  const reading = folder.list((bytes, from, to) => {
    const name = bytes.subarray(from, to);
    room.entries -= isAscii(name) ? 1 : 1 + (to - from) / bytesOfFolding;
    if (room.entries < 0 || !isUtf8(name)) return;
    const text = name.toString();
    if (!isWanted(text)) return;
    if (!jail.isTemporary(text) && !jail.deniesIn(folder, text)) found.push(text);
  });
  for (const _ of reading) if (room.entries < 0) break;
  return found.sort();
}

/** Maximum folders of all trees that are searched in memory, and paths found and then tested. */
const maxFolders = 50_000;
const maxFound = 10_000;

/** Entries among which folders are found as fast as a name is searched for in one folder. */
const entriesOfFolder = 64;
const maxTested = 1000;

/** Returns the paths of entries with the same name elsewhere, those with more common final names first. */
function sameNames(path: string, { jail, defaultExcludes, listedTrees }: Knowledge): string[] {
  const names = namesOf(path);
  const key = Buffer.from(names.at(-1)!).toString("latin1");
  const found: Namesake[] = [];
  const room = { folders: maxFolders };
  for (const { name, tree } of listedTrees()) {
    for (const one of pathsNamed(tree.base, key, room)) {
      const bytes = Buffer.from(one, "latin1");
      const other = name === "" ? bytes.toString() : `${name}/${bytes}`;
      if (isUtf8(bytes) && other !== path) found.push({ path: other, shared: sharedNames(other, names) });
      if (found.length > maxFound) break;
    }
  }
  const nearest = found.sort(compareNamesakes).slice(0, maxTested);
  const shown: string[] = [];
  for (const { path: one } of nearest) {
    if (shown.length === 2 * maxCandidates) break;
    if (!jail.denies(namesOf(one)) && !excludesPath(defaultExcludes, one)) shown.push(one);
  }
  return shown;
}

/** A path whose last name is the wanted one. */
interface Namesake {
  readonly path: string;
  /** The number of names at its end that it has in common with the wanted path. */
  readonly shared: number;
}

const compareNamesakes = (one: Namesake, other: Namesake): number =>
  other.shared - one.shared || one.path.length - other.path.length || (one.path < other.path ? -1 : 1);

/** Returns the number of names at its end that a path has in common with these. */
function sharedNames(path: string, names: readonly string[]): number {
  const others = namesOf(path);
  let count = 0;
  while (count < others.length && others.at(-1 - count) === names.at(-1 - count)) count++;
  return count;
}

/** Yields the paths below `base` whose last name is `key`, one character per byte. */
function* pathsNamed(
  base: WatchedFolder,
  key: string,
  room: { folders: number },
): Generator<string, void, void> {
  const waiting: [folder: WatchedFolder, path: string][] = [[base, ""]];
  for (let next = waiting.pop(); next !== undefined && room.folders > 0; next = waiting.pop()) {
    const [{ keys, entries }, path] = next;
    room.folders -= 1 + entries.length / entriesOfFolder;
    if (holds(keys, key) || holds(keys, `${key}/`)) yield `${path}${key}`;
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index];
      if (typeof entry === "object") waiting.push([entry, `${path}${keys[index]}`]);
    }
  }
}

/** Returns whether a sorted list has this key. */
function holds(keys: readonly string[], key: string): boolean {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key;
}
