/**
 * The regular files below a folder, in the order of the bytes of their paths, folder by folder and lazily: of the
 * folders on the way one per level is held open, and one that is handed out stays open until it was let go of.
 */
import type { Entry, Files } from "../files/files.ts";
import type { GlobSet } from "../globs/glob-set.ts";
import type { Folder, Jail, Name } from "../jail/folder.ts";
import { unlessGone } from "./gone.ts";

/** Some files of one folder that follow each other in the order of paths. None: the walk only makes a pause. */
export interface Run {
  readonly folder: HeldFolder;
  readonly names: readonly Name[];
}

/** What stands before the names of a folder's entries in their paths from the base. */
export const prefixOf = ({ folder }: HeldFolder): string => (folder.path === "" ? "" : `${folder.path}/`);

/** Which paths are wanted; a `GlobSet` is one. */
export type PathFilter = Pick<GlobSet, "matches">;

export interface WalkOptions {
  readonly jail: Jail;
  readonly files: Files;
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** The one entry of the start that is meant, instead of all of them. */
  readonly only?: Entry | undefined;
  /** Told of folders that lie too deep to be entered. */
  readonly onTooDeep: () => void;
}

/** Folders this deep are not entered: no tree that people made is, and each level holds a descriptor. */
const maxDepth = 256;

/** Files of a run, at most: a few large ones in one folder are work for more than one thread. */
const longestRun = 16;

/** Longest that a walk goes on between two runs, in milliseconds, before it lets others have a turn. */
const stretch = 5;

/** A folder that is closed when the last of its users let go. */
export class HeldFolder {
  readonly folder: Folder;
  readonly #close: () => void;
  #users = 1;

  constructor(folder: Folder, close = () => folder.close()) {
    this.folder = folder;
    this.#close = close;
  }

  hold(): this {
    this.#users++;
    return this;
  }

  release(): void {
    if (--this.#users === 0) this.#close();
  }
}

/**
 * Yields runs of the files below `start`, each held for the taker, who releases it, and a run without files as a pause.
 * Throws a refusal when `start` itself cannot be listed.
 */
export function* walk(start: HeldFolder, options: WalkOptions): Generator<Run> {
  const entries = entriesOfStart(start, options);
  const levels: Level[] = [{ held: start.hold(), entries, next: 0 }];
  let until = performance.now() + stretch;
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const names = takeFiles(level, options, until);
      if (names.length > 0 || performance.now() > until) {
        yield { folder: level.held.hold(), names };
        until = performance.now() + stretch;
        continue;
      }
      const folder = level.entries[level.next++];
      if (folder !== undefined) enter(levels, level.held, folder, options);
      else levels.pop()?.held.release();
    }
  } finally {
    for (const { held } of levels) held.release();
  }
}

/** A folder on the way. */
interface Level {
  readonly held: HeldFolder;
  readonly entries: readonly Entry[];
  /** The first of the entries that was not taken yet. */
  next: number;
}

const entriesOfStart = (held: HeldFolder, { files, only }: WalkOptions): Entry[] =>
  inPathOrder(only === undefined ? files.list(held.folder) : [only]);

/** Takes the wanted files up to the next folder, or up to a run of them, or until the time is over. */
function takeFiles(level: Level, options: WalkOptions, until: number): Name[] {
  const { held, entries } = level;
  const prefix = prefixOf(held);
  const names: Name[] = [];
  for (; level.next < entries.length; level.next++) {
    const { name, raw, kind } = entries[level.next]!;
    if (names.length === longestRun || (names.length === 0 && performance.now() > until)) break;
    if ((kind !== "file" && kind !== "dir") || options.jail.deniesIn(held.folder, name)) continue;
    if (kind === "dir") break;
    if (isWanted(prefix, name, options)) names.push(raw);
  }
  return names;
}

/** Adds the folder `entry` in the one that is held to the levels, unless it is gone or too deep. */
function enter(levels: Level[], { folder }: HeldFolder, { raw }: Entry, options: WalkOptions): void {
  if (levels.length > maxDepth) {
    options.onTooDeep();
    return;
  }
  const child = unlessGone(() => folder.child(raw));
  if (child === undefined) return;
  const held = new HeldFolder(child);
  const level = { held, entries: [] as Entry[], next: 0 };
  // Before it is listed, so that it is let go of when that fails.
  levels.push(level);
  level.entries = inPathOrder(unlessGone(() => options.files.list(child)) ?? []);
}

function isWanted(prefix: string, name: string, { include, exclude }: WalkOptions): boolean {
  if (include === undefined && exclude === undefined) return true;
  const path = prefix + name;
  return (include === undefined || include.matches(path)) && !(exclude?.matches(path) ?? false);
}

/**
 * Entries sorted by the bytes of their names, with each folder moved to where its files belong: a folder stands for
 * paths that go on with "/", which is more than " " or "." and less than "a".
 */
export function inPathOrder(entries: readonly Entry[]): Entry[] {
  const ordered: Entry[] = [];
  const folders: Entry[] = [];
  for (const entry of entries) {
    while (folders.length > 0 && !isBefore(entry, folders.at(-1) as Entry))
      ordered.push(folders.pop() as Entry);
    (entry.kind === "dir" ? folders : ordered).push(entry);
  }
  while (folders.length > 0) ordered.push(folders.pop() as Entry);
  return ordered;
}

/** Whether `entry`, which sorts after the folder's bare name, still sorts before that name with a "/". */
function isBefore(entry: Entry, folder: Entry): boolean {
  if (typeof entry.raw === "string" && typeof folder.raw === "string") {
    return entry.raw.charCodeAt(folder.raw.length) < slash && entry.raw.startsWith(folder.raw);
  }
  const name = Buffer.from(entry.raw);
  const stem = Buffer.from(folder.raw);
  return (name[stem.length] ?? slash) < slash && name.subarray(0, stem.length).equals(stem);
}

const slash = 0x2f;
