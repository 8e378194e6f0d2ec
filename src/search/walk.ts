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

/** Longest that a walk goes on without a wanted file, in milliseconds, before it lets others have a turn. */
const stretch = 5;

/** When the walk has to make a pause at the latest. */
interface Pace {
  until: number;
}

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
export function walk(start: HeldFolder, options: WalkOptions): Generator<Run> {
  return walkFolder(start, { options, pace: { until: performance.now() + stretch }, depth: 0 });
}

function* walkFolder(held: HeldFolder, level: Level): Generator<Run> {
  const { options, pace, depth } = level;
  const prefix = prefixOf(held);
  let names: Name[] = [];
  const entries =
    depth === 0 ? entriesOfStart(held, options) : unlessGone(() => options.files.list(held.folder));
  for (const entry of inPathOrder(entries ?? [])) {
    if (entry.kind !== "file" && entry.kind !== "dir") continue;
    if (options.jail.deniesIn(held.folder, entry.name)) continue;
    if (entry.kind === "file" && isWanted(prefix + entry.name, options)) names.push(entry.raw);
    if (names.length === longestRun || (entry.kind === "dir" && names.length > 0)) {
      yield { folder: held.hold(), names };
      names = [];
    }
    if (entry.kind === "dir") yield* enter(held.folder, entry, level);
    if (names.length === 0 && performance.now() > pace.until) {
      yield { folder: held.hold(), names };
      pace.until = performance.now() + stretch;
    }
  }
  if (names.length > 0) yield { folder: held.hold(), names };
}

const entriesOfStart = ({ folder }: HeldFolder, { files, only }: WalkOptions): Entry[] =>
  only === undefined ? files.list(folder) : [only];

interface Level {
  readonly options: WalkOptions;
  readonly pace: Pace;
  /** Of the folder that is entered from. */
  readonly depth: number;
}

function* enter(folder: Folder, entry: Entry, level: Level): Generator<Run> {
  if (level.depth === maxDepth) {
    level.options.onTooDeep();
    return;
  }
  const child = unlessGone(() => folder.child(entry.raw));
  if (child === undefined) return;
  const held = new HeldFolder(child);
  try {
    yield* walkFolder(held, { ...level, depth: level.depth + 1 });
  } finally {
    held.release();
  }
}

function isWanted(path: string, { include, exclude }: WalkOptions): boolean {
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
