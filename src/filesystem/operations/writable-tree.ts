import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { DeferredClose } from "../disk/deferred-close.ts";
import type { Permissions, Requester } from "../disk/mutation.ts";
import type { EntryVersion, StagedContent, StagedFile, StagedFolder, StagedLink } from "../disk/steps.ts";
import type { ReplacedFile } from "../disk/swap-names.ts";
import type { FilesConfig } from "../files/types.ts";
import type { Folder, Jail, ResolvedPath } from "../jail/folder.ts";
import type { Admitted, WriteTarget } from "./path-lock.ts";
import type { TreeOperation } from "./require-allowed.ts";
import type { Ends, Relation } from "./same-entry.ts";

/** A regular file to be made, with all of its content. */
export interface FileToMake extends StagedFile {
  readonly content: StagedContent;
}

/** A copy of the entry at `source`, a folder with everything in it. */
export interface EntryCopy {
  readonly kind: "copy";
  readonly source: ResolvedPath;
  /** The revision that the file must have, if any. */
  readonly expectedRevision?: string | undefined;
}

/** Gives a new entry a free name, in folders that are made for it if they are missing. */
export interface EntryPlacement {
  readonly place: ResolvedPath;
  readonly made: FileToMake | StagedFolder | StagedLink | EntryCopy;
  /** Whether to replace a file that has got the name since it was admitted. Default: false. */
  readonly mayReplace?: boolean;
}

/** Gives a new file or link the name of an existing one. */
export interface EntryReplacement {
  readonly place: ResolvedPath;
  readonly made: FileToMake | StagedLink | EntryCopy;
  /** The existing file, if it could be held. */
  readonly held?: DeferredClose | undefined;
  /** The state that it must have, if any. */
  readonly expected?: ExpectedFile | undefined;
}

/** A file that may be replaced only in a certain state. */
export interface ExpectedFile extends ReplacedFile {
  /** The version of the file when it was read; `undefined` if it was not, or is not on disk yet. */
  readonly version?: EntryVersion | undefined;
  /** The revision, if nothing else is known. */
  readonly revision?: string | undefined;
}

/** Removes an entry, or sets it aside until the commit. */
export interface SettingAside {
  readonly place: ResolvedPath;
  /** The revision that the file must have, if any. */
  readonly expectedRevision?: string | undefined;
  /** The contents of a folder that go with it. Without them, it must be empty. */
  readonly contents?: FolderContents | undefined;
}

/** A folder with everything in it, which was checked. */
export interface FolderContents {
  readonly inside: Folder;
  readonly operation: TreeOperation;
}

/** Gives an entry another name, in folders that are made for it if they are missing. */
export interface Relocation extends Ends {
  readonly relation: Exclude<Relation, "same">;
  /** Whether a file may be replaced. */
  readonly overwrite: boolean;
  /** The revision that the file must have, if any. */
  readonly expectedRevision?: string | undefined;
}

/** The permission bits, and the owners if they change, for a file or folder. */
export interface ModeStep extends Permissions {
  readonly place: ResolvedPath;
  /** Whether to change everything in a folder too. */
  readonly recursive: boolean;
}

/**
 * A tree that verbs change: the disk (`DiskTree`), or a plan over it (`PlannedTree`). Its steps are those of
 * decision 27, each for a place that its jail has admitted. They throw errno errors.
 */
export interface WritableTree {
  readonly jail: Jail;
  readonly config: FilesConfig;
  /**
   * Whether steps are only remembered, to be made later. A verb then checks first what otherwise the attempt
   * shows.
   */
  readonly isPlanned: boolean;
  /** Whether it is a plan that nothing carries out: it shows changes that the disk takes one by one. */
  readonly isTrial: boolean;
  /** Admits paths, when all earlier calls on them are done, and holds them until disposed. */
  admit<const Targets extends readonly WriteTarget[]>(
    targets: Targets,
    deadline: Deadline,
  ): Promise<Admitted<Targets>>;
  /** Returns whether anything is mounted in the folder; `undefined` if the system has no list of mounts. */
  holdsMount(folder: Folder): boolean | undefined;
  place(step: EntryPlacement, requester: Requester): Promise<void>;
  exchange(step: EntryReplacement, requester: Requester): Promise<void>;
  setAside(step: SettingAside, requester: Requester): Promise<void>;
  rename(step: Relocation, requester: Requester): Promise<void>;
  /** Sets permissions. Returns the number of changed entries. */
  setPermissions(step: ModeStep, requester: Requester): Promise<number>;
}
