/** What a step of the disk takes away, or puts in its place, for listeners who keep it. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from "node:fs";
import type { Folder, JailedPath, Name } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isTemporary } from "../jail/temporary.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { readEntries } from "./entries.ts";
import type { HeldEntry, StepEntries } from "./mutation.ts";

/** Names an entry of a folder that is entered. */
export type At = (name: Name) => JailedPath;

/** Where a step finds its entries. */
interface StepPlace {
  readonly folder: Folder;
  readonly name: Name;
  /** The temporary name of what gets the name. */
  readonly temporary?: Name | undefined;
  /** Of a folder that is entered already. */
  readonly at?: At | undefined;
}

/** The entries of a step that gives a name, or takes one away. */
export function entriesAt({ folder, name, temporary, at }: StepPlace): StepEntries {
  const enter: Enter = at === undefined ? (act) => folder.enter(act) : (act) => act(at);
  return {
    replaced: () => entryIn(folder, name, enter),
    ...(temporary !== undefined && { placed: () => entryIn(folder, temporary, enter) }),
  };
}

/** Those of a new name for what has one. */
export const entriesOfRename = (
  source: Pick<StepPlace, "folder" | "name">,
  target: Pick<StepPlace, "folder" | "name">,
): StepEntries => ({
  replaced: () => entryIn(target.folder, target.name),
  placed: () => entryIn(source.folder, source.name),
});

/** A regular file that is open. */
export function openedFile(descriptor: number): HeldEntry {
  const { mode, size } = fstatSync(descriptor);
  return {
    kind: "file",
    mode: mode & 0o7777,
    size,
    read: (use) => use(descriptor),
    linkText: () => Buffer.alloc(0),
    inside: () => [],
  };
}

/** A link that is not on the disk yet. */
export const linkWith = (text: Buffer): HeldEntry => ({
  kind: "symlink",
  mode: 0o777,
  size: text.length,
  read: () => undefined,
  linkText: () => text,
  inside: () => [],
});

type Enter = <T>(act: (at: At) => T) => T;

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Undefined where nothing has the name. Throws the errno error. */
function entryIn(
  folder: Folder,
  name: Name,
  enter: Enter = (act) => folder.enter(act),
): HeldEntry | undefined {
  const stats = enter((at) => lstatSync(at(name), { throwIfNoEntry: false }));
  if (stats === undefined) return undefined;
  return {
    kind: kindOf(stats) ?? "other",
    mode: stats.mode & 0o7777,
    size: stats.size,
    read(use) {
      const descriptor = enter((at) => openSync(at(name), readFlags));
      try {
        return use(descriptor);
      } finally {
        closeSync(descriptor);
      }
    },
    linkText: () => enter((at) => readlinkSync(at(name), "buffer")),
    inside: () => insideOf(folder, name, ""),
  };
}

function* insideOf(outer: Folder, name: Name, above: string): ReturnType<HeldEntry["inside"]> {
  using folder = outer.child(name);
  for (const entry of runAtOnce(readEntries(folder))) {
    if (isTemporary(entry.name)) continue;
    const path = `${above}${entry.name}`;
    const held = entryIn(folder, entry.raw);
    if (held === undefined) continue;
    yield { path, entry: held };
    if (held.kind === "dir") yield* insideOf(folder, entry.raw, `${path}/`);
  }
}
