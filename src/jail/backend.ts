import { readdirSync, readlinkSync } from "node:fs";
import { type Refusal, refuse } from "../errors.ts";
import type { OnDirent } from "./dirents.ts";
import type { BackendName, Folder, Name, PathHandle } from "./folder.ts";
import type { Naming } from "./folding.ts";
import { inodeAt } from "./inode.ts";
import { kindOf } from "./kind.ts";

/** A way of holding folders. One walk serves all of them. */
export interface Backend {
  readonly name: BackendName;
  /**
   * Whether it resolves several names in one step if the system finds no link among them. A failure has no reason: then
   * the walk resolves the names one by one.
   */
  readonly canResolveBeneath: boolean;
  /** How the base compares names. */
  readonly naming: Naming;
  /** The base, for a walk of the path `requested`. It stays held when this is closed. */
  base(requested: string): HeldFolder;
  /** The refusal of a path whose base or root is no longer at its host path; `undefined` while it is. */
  goneAt(path: string): Refusal | undefined;
  close(): void;
}

/** What the base of a backend is called: a root among several has a name, the one base has none. */
export interface BaseName {
  readonly path: string;
  readonly gone: () => Refusal;
}

/** Of the one base. */
export const onlyBase: BaseName = { path: "", gone: refuse.baseGone };

/** A folder as the walk uses it. */
export interface HeldFolder extends Folder {
  child(name: Name): HeldFolder;
  /** With `canResolveBeneath`: the folder that the names of `path` lead to. */
  openFolderBeneath?(path: string): HeldFolder | undefined;
  /** The same for whatever the names lead to. */
  openPathBeneath?(path: string): PathHandle | undefined;
}

/** A name as text; bytes that are not UTF-8 become U+FFFD. */
export const nameText = (name: Name): string => (typeof name === "string" ? name : name.toString());

/** The path of `name` in the folder at `path`, both relative to the base. */
export const pathIn = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`);

/** The names in a path made by `pathIn`. */
export const namesOf = (path: string): string[] => (path === "" ? [] : path.split("/"));

/** `Folder.listAtOnce`; where the backend has none, nothing is done yet. */
export const listAtOnce = (folder: Folder, onDirent: OnDirent): Generator<void, void, void> | undefined =>
  folder.listAtOnce === undefined ? folder.list(onDirent) : folder.listAtOnce(onDirent);

/**
 * `Folder.list` by portable means. One character per byte is the only way to read names byte-exactly on Bun and Node.
 * Reads all names in the first step, because the path of the folder is valid only inside `enter`.
 */
export function* listByPath(folder: Pick<Folder, "enter">, onDirent: OnDirent): Generator<void, void, void> {
  const options = { encoding: "latin1", withFileTypes: true } as const;
  const dirents = folder.enter((at) => readdirSync(at(".") as string, options));
  for (const [index, dirent] of dirents.entries()) {
    const bytes = Buffer.from(dirent.name, "latin1");
    onDirent(bytes, 0, bytes.length, kindOf(dirent));
    if (index % namesPerStep === namesPerStep - 1) yield;
  }
}

const namesPerStep = 2048;

/** `Folder.identify` by its path. */
export const identifyByPath = (folder: Pick<Folder, "enter">, name: Name): string =>
  folder.enter((at) => inodeAt(at(name)));

/** `Folder.readLink` by its path. */
export const readLinkByPath = (folder: Pick<Folder, "enter">, name: Name): Buffer =>
  folder.enter((at) => readlinkSync(at(name), "buffer"));
