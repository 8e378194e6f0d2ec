/** The configuration key `journal` of both workers, and the state that it configures. */
import { accessSync, constants } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { Log } from "../../base/log/log.ts";
import { readStateDirectory } from "../../config/environment.ts";
import { ConfigError } from "../../config/file.ts";
import { otherOwnerOf } from "../jail/other-owner.ts";
import {
  findOverlappingRoots,
  openStateFolder,
  openTemporaryState,
  type ServedRoot,
  type StateFolder,
  StateFolderError,
} from "../state/state-folder.ts";
import { Journal } from "./journal.ts";
import { listSegments } from "./segment-folder.ts";

const mebibyte = 1024 * 1024;

/** Returns the schema of the key. The description ends with the default of one worker. */
export const JournalKey = (whenAbsent: string) =>
  Type.Union(
    [
      Type.Null(),
      Type.Object({
        dir: Type.Optional(Type.String({ minLength: 1 })),
        max_bytes: Type.Integer({ minimum: 4096, maximum: 65_536 * mebibyte, default: 64 * mebibyte }),
        max_records: Type.Integer({ minimum: 0, maximum: 100_000, default: 500 }),
      }),
    ],
    {
      default: null,
      description: `What changes took away is kept, so that coder::undo can bring it back: a mapping, which may be empty, of dir, max_bytes (67108864) and max_records (500; 0 keeps no journal). The oldest records are dropped first, an eighth at a time; where a limit is lowered, with the next change. dir is a folder outside of the one that is served, which gets one for each served folder, with mode 0700; without it that is coder in $XDG_STATE_HOME or ~/.local/state. ${whenAbsent}`,
    },
  );

export type JournalConfig = Static<ReturnType<typeof JournalKey>>;

interface StateOptions {
  readonly config: JournalConfig;
  readonly roots: readonly ServedRoot[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Whether a journal is kept by default. */
  readonly byDefault?: boolean;
  /** Whether nothing is recorded, since no call may change anything. */
  readonly isReadOnly?: boolean;
  /** Whether to use the folder only if it is there already. */
  readonly onlyReads?: boolean | undefined;
}

/** The reason for a missing journal. */
export interface MissingJournal {
  /** The reason as a part of a sentence, without a host path. */
  readonly reason: string;
  /** Whether the configuration says so. */
  readonly isByConfiguration: boolean;
}

/** Returns the reason for no journal, unless the configuration and the profile merely lack one. */
export function reasonForNone(config: JournalConfig, { missing }: LocatedState): MissingJournal | undefined {
  if (config?.max_records === 0)
    return { reason: "the configuration sets `journal.max_records` to 0", isByConfiguration: true };
  return missing === undefined ? undefined : { reason: missing, isByConfiguration: false };
}

/** The place where workers of a root keep state. */
export type LocatedState =
  | { readonly folder: StateFolder; readonly missing?: undefined }
  /** `missing` is the reason why there is no such folder, without a host path. */
  | { readonly folder?: undefined; readonly missing: string };

/**
 * Locates the state folder of a root. Logs the reason if it has none. Throws a `ConfigError` if the
 * configuration requests a journal and there is no place for it, or names an unsuitable folder.
 */
export function locateState({
  config,
  roots,
  environment,
  log,
  byDefault = false,
  isReadOnly = false,
  onlyReads = false,
}: StateOptions): LocatedState {
  const dir = config?.dir ?? readStateDirectory(environment);
  const isRequested = config !== null && config.max_records > 0 && !isReadOnly;
  const none = config === null && byDefault && !isReadOnly ? log.warn : log.info;
  if (dir === undefined) {
    const missing = "neither XDG_STATE_HOME nor HOME is set to an absolute path";
    if (isRequested) throw noJournal(missing);
    none("no state is kept", { reason: missing });
    return { missing };
  }
  try {
    const folder = openStateFolder({ dir, roots });
    const code =
      reasonAgainstMaking(folder.location) ?? (isRequested && !onlyReads ? errorOfMaking(folder) : undefined);
    if (code === undefined) return { folder };
    const owner = code === "EACCES" ? otherOwnerOf(folder.location) : undefined;
    const cause = owner === undefined ? "" : `: ${owner}`;
    const reason = `the state folder ${folder.location} cannot be made (${code})${cause}`;
    if (isRequested) throw noJournal(reason);
    log.warn("no state is kept", { reason });
    return { missing: `the state folder of this user cannot be made (${code})` };
  } catch (error) {
    if (!(error instanceof StateFolderError) || isRequested || config?.dir !== undefined) throw error;
    none("no state is kept", { reason: error.message });
    return { missing: `the state folder of this user ${error.reason}` };
  }
}

/** Makes the folder. Returns the errno code of a failure, which not every file system announces. */
function errorOfMaking(folder: StateFolder): string | undefined {
  try {
    folder.path(basename(folder.location));
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code;
  }
}

const noJournal = (reason: string): ConfigError =>
  new ConfigError(
    `journal: ${reason}; set journal.dir to a folder that this user may write, or leave journal out`,
  );

/** Returns the errno code that prevents making or writing to a folder, if that shows without making it. */
function reasonAgainstMaking(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" && path !== dirname(path) ? reasonAgainstMaking(dirname(path)) : code;
  }
}

/** Like `locateState`, but for records that need not outlive a restart of the machine, which the log says. */
export function locateTemporaryState({
  roots,
  log,
}: Pick<StateOptions, "roots" | "log">): StateFolder | undefined {
  const folder = openTemporaryState(roots);
  if (folder !== undefined)
    log.warn("records of transactions do not outlive a restart of the machine", { folder: folder.location });
  return folder;
}

interface Opening extends Pick<StateOptions, "config" | "log"> {
  readonly state: StateFolder | undefined;
  /** Whether a journal is kept by default. */
  readonly byDefault: boolean;
}

/** Returns whether a worker that serves this root has kept a journal. */
export const hasRecords = (state: StateFolder | undefined): boolean =>
  state !== undefined && listSegments(state).length > 0;

/** The roots of a journal that is not the one of this worker. */
export type OtherJournal = readonly ServedRoot[];

/** Returns the journals in the configured folder whose roots overlap with these. */
export function findOtherJournals({
  config,
  roots,
  environment,
}: Pick<StateOptions, "config" | "roots" | "environment">): OtherJournal[] {
  const dir = config?.dir ?? readStateDirectory(environment);
  if (dir === undefined) return [];
  return findOverlappingRoots({ dir: resolve(dir), roots }).filter((others) => keepsRecords(dir, others));
}

function keepsRecords(dir: string, roots: readonly ServedRoot[]): boolean {
  try {
    return hasRecords(openStateFolder({ dir, roots }));
  } catch {
    return false;
  }
}

/** Opens the journal, if the configuration enables it. */
export function openJournal({ config, state, byDefault, log }: Opening): Journal | undefined {
  const { max_bytes, max_records } = config ?? { max_bytes: 64 * mebibyte, max_records: 500 };
  const isOn = config === null ? byDefault : max_records > 0;
  return isOn && state !== undefined
    ? new Journal({ state, log, bounds: { max_bytes, max_records } })
    : undefined;
}
