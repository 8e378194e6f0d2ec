/**
 * The files of a journal: each segment is a folder named by the number of its first record, with its frames
 * and the contents kept beside them.
 */
import {
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { errnoError, errnoOf } from "../jail/errno.ts";
import { isGone, makerOf, temporaryName } from "../jail/temporary.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { encodeHeader, type SegmentHeader } from "./segment.ts";

const folderName = "segments";
const copiesName = "copies";
const framesName = "frames";
const digits = 12;

const nameOf = (first: number): string => String(first).padStart(digits, "0");

/** The name of a content kept beside the frames: its record, and its number in that. */
export interface ContentName {
  readonly record: string;
  readonly blob: number;
}

const fileName = ({ record, blob }: ContentName): string => `${record}-${blob}`;

/** Returns the numbers of the segments, in ascending order. Throws the errno error. */
export function listSegments(state: StateFolder): number[] {
  return listNames(state)
    .filter((name) => /^\d{12}$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);
}

function listNames(state: StateFolder, within = folderName): string[] {
  const folder = state.find(within);
  return folder === undefined ? [] : readNames(folder);
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Opens the frames of a segment, for reading, or for appending too. Throws the errno error. */
export const openFrames = (
  state: StateFolder,
  first: number,
  { appending = false }: { readonly appending?: boolean } = {},
): number =>
  openIn(state, first, framesName, appending ? constants.O_RDWR | constants.O_APPEND : constants.O_RDONLY);

/** Opens a content kept beside the frames, for reading. Throws the errno error. */
export const openContent = (state: StateFolder, first: number, content: ContentName): number =>
  openIn(state, first, fileName(content), constants.O_RDONLY);

function openIn(state: StateFolder, first: number, name: string, flags: number): number {
  const path = state.find(folderName, nameOf(first), name);
  if (path === undefined) throw errnoError("ENOENT");
  return openSync(path, flags | constants.O_NOFOLLOW);
}

/** Returns the descriptor, or `undefined` if the segment was dropped. */
export function openIfThere(open: () => number): number | undefined {
  try {
    return open();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the host path for a content to be kept beside the frames. */
export const contentPath = (state: StateFolder, first: number, content: ContentName): string =>
  state.path(folderName, nameOf(first), fileName(content));

/** Returns a new host path for a copy that may become a content. Throws the errno error. */
export const newCopyPath = (state: StateFolder): string => state.path(copiesName, temporaryName());

/** Removes a copy, if it is there. */
export const removeCopy = (path: string): void => rmSync(path, { force: true });

/** Makes a segment, in one step, unless one has this number. Throws the errno error. */
export function makeSegment(state: StateFolder, first: number, header: SegmentHeader): void {
  const made = state.path(folderName, temporaryName());
  mkdirSync(made, { mode: 0o700 });
  try {
    writeFileSync(`${made}/${framesName}`, encodeHeader(header), { mode: 0o600, flag: "wx" });
    renameSync(made, state.path(folderName, nameOf(first)));
  } catch (error) {
    removeFolder(made);
    if (!taken.has(errnoOf(error))) throw error;
  }
}

const taken: ReadonlySet<string | undefined> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Returns the bytes of a segment. Throws the errno error. */
export function sizeOfSegment(state: StateFolder, first: number): number {
  const folder = state.path(folderName, nameOf(first));
  return readNames(folder).reduce(
    (sum, name) => sum + (lstatSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Removes a segment. Throws the errno error. */
export function removeSegment(state: StateFolder, first: number): void {
  removeFolder(state.path(folderName, nameOf(first)));
}

/** Removes unfinished segments and copies of killed processes. Throws the errno error. */
export function sweepSegments(state: StateFolder): void {
  for (const name of listNames(state)) if (isLeftOver(name)) removeFolder(state.path(folderName, name));
  for (const name of listNames(state, copiesName))
    if (isLeftOver(name)) removeCopy(state.path(copiesName, name));
}

function isLeftOver(name: string): boolean {
  const maker = makerOf(name);
  return maker !== undefined && isGone(maker);
}

/** Removes a folder, and the frames in it first, because no reader needs contents without them. */
function removeFolder(folder: string): void {
  const others = readNames(folder).filter((name) => name !== framesName);
  for (const name of [framesName, ...others]) ignoreMissing(() => unlinkSync(`${folder}/${name}`));
  ignoreMissing(() => rmdirSync(folder));
}

/** Ignores errors because another worker was faster, or is about to write there. */
function ignoreMissing(act: () => void): void {
  try {
    act();
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && !taken.has(code)) throw error;
  }
}
