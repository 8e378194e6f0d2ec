/** The types that the verbs of this room share. */
import type { Name } from "../jail/folder.ts";
import type { EntryKind } from "../jail/kind.ts";

/** The configuration keys that concern the disk. */
export interface FilesConfig {
  readonly max_write_bytes: number;
  readonly fsync: boolean;
}

/** A name in a folder. */
export interface Entry {
  /** The name as text, with U+FFFD for invalid UTF-8; callers cannot send such a name back. */
  readonly name: string;
  /** The name on disk, for `Folder.child` and `Folder.enter`. */
  readonly raw: Name;
  /** The kind of the entry when the folder was read, links not followed. */
  readonly kind: EntryKind;
}

/** Some entries of a folder. */
export interface Page {
  readonly entries: readonly Entry[];
  /** The number of entries in the whole folder. */
  readonly total: number;
}

/** Maximum bytes of a file, and the configuration key that sets it. */
export interface Limit {
  readonly key: string;
  readonly bytes: number;
}
