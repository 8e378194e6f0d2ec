import { readdirSync } from "node:fs";
import type { OnDirent } from "./dirents.ts";
import type { BackendName, Folder, Name, PathHandle } from "./folder.ts";
import type { Naming } from "./folding.ts";
import { kindOf } from "./kind.ts";

/** What a way of holding folders has to offer, so that one walk serves them all. */
export interface Backend {
  readonly name: BackendName;
  /**
   * Whether it takes several names in one step where the system finds that none of them is a link. It does not say
   * what stands against that: then the names have to be taken one by one.
   */
  readonly canResolveBeneath: boolean;
  /** How names are compared in the base. */
  readonly naming: Naming;
  /** The base, for a walk on behalf of the path `asked`. It stays held when this is closed. */
  base(asked: string): HeldFolder;
  /** True when the base folder was removed. */
  isBaseGone(): boolean;
  close(): void;
}

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

/** The names in a path that was put together by `pathIn`. */
export const namesOf = (path: string): string[] => (path === "" ? [] : path.split("/"));

/**
 * `Folder.list` by portable means. One character per byte is the only way to read names byte-exactly on Bun and Node.
 * The names are read in the first step, however many: a stream of them would have to be read where the folder is.
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
