import type { BackendName, Folder, Name } from "./folder.ts";

/** What a way of holding folders has to offer, so that one walk serves them all. */
export interface Backend {
  readonly name: BackendName;
  /** The base, for a walk on behalf of the path `asked`. It stays held when this is closed. */
  base(asked: string): HeldFolder;
  /** True when the base folder was removed. */
  isBaseGone(): boolean;
  close(): void;
}

/** A folder as the walk uses it. */
export interface HeldFolder extends Folder {
  child(name: Name): HeldFolder;
}

/** A name as text; bytes that are not UTF-8 become U+FFFD. */
export const nameText = (name: Name): string => (typeof name === "string" ? name : name.toString());

/** The path of `name` in the folder at `path`, both relative to the base. */
export const pathIn = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`);

/** The names in a path that was put together by `pathIn`. */
export const namesOf = (path: string): string[] => (path === "" ? [] : path.split("/"));
