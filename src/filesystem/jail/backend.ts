import { readdirSync, readlinkSync } from "node:fs";
import { type Refusal, refuse } from "../../base/errors.ts";
import type { OnDirent } from "./dirents.ts";
import type { BackendName, Folder, Name, PathHandle } from "./folder.ts";
import { inodeAt } from "./inode.ts";
import { kindOf } from "./kind.ts";
import type { Naming } from "./name-comparison.ts";

/** A way of holding folders. One walk serves all of them. */
export interface Backend {
  readonly name: BackendName;
  /**
   * Whether it resolves several names in one step if the system finds no link among them. A failure gives no
   * reason, so the walk then resolves the names one by one.
   */
  readonly canResolveBeneath: boolean;
  /** The way the base compares names. */
  readonly naming: Naming;
  /** Returns the base, for a walk of the path `requested`. It stays held after this is closed. */
  base(requested: string): HeldFolder;
  /**
   * Returns the refusal of a path whose base or root is no longer at its host path, or `undefined` if it is.
   */
  goneAt(path: string): Refusal | undefined;
  close(): void;
}

/** The name of a backend's base. A root among several has one, the only base has none. */
export interface BaseName {
  readonly path: string;
  readonly gone: () => Refusal;
}

/** The name of the only base. */
export const onlyBase: BaseName = { path: "", gone: refuse.baseGone };

/** A folder as the walk uses it. */
export interface HeldFolder extends Folder {
  child(name: Name): HeldFolder;
  openFolderBeneath?(path: string): HeldFolder | undefined;
  /** Like `openFolderBeneath`, but for any kind of entry. Only with `canResolveBeneath`. */
  openPathBeneath?(path: string): PathHandle | undefined;
}

/** Returns a name as text, with U+FFFD for invalid UTF-8. */
export const nameText = (name: Name): string => (typeof name === "string" ? name : name.toString());

/** Returns the path of `name` in the folder at `path`, both relative to the base. */
export const pathIn = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`);

/** Returns the names in a path made by `pathIn`. */
export const namesOf = (path: string): string[] => (path === "" ? [] : path.split("/"));

/** Returns the paths of the folders above a path, outermost first. */
export const ancestorsOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));

/** Calls `Folder.listAtOnce`, or starts `Folder.list` if the backend lacks it. */
export const listAtOnce = (folder: Folder, onDirent: OnDirent): Generator<void, void, void> | undefined =>
  folder.listAtOnce === undefined ? folder.list(onDirent) : folder.listAtOnce(onDirent);

/**
 * Implements `Folder.list` by portable means. One character per byte is the only way to read names
 * byte-exactly on Bun and Node. It reads all names in the first step, because the path of the folder is valid
 * only inside `enter`.
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

/** Implements `Folder.identify` by the path of the folder. */
export const identifyByPath = (folder: Pick<Folder, "enter">, name: Name): string =>
  folder.enter((at) => inodeAt(at(name)));

/** Implements `Folder.readLink` by the path of the folder. */
export const readLinkByPath = (folder: Pick<Folder, "enter">, name: Name): Buffer =>
  folder.enter((at) => readlinkSync(at(name), "buffer"));
