import { createLog } from "../../base/log/log.ts";
import { beginAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { openAudit } from "../../calls/audit/audit-config.ts";
import type * as worker from "../../calls/contract/definition.ts";
import { readGitUser, readRuntimeOptions } from "../../config/environment.ts";
import { openDisk } from "../../filesystem/disk/disk.ts";
import type { MutationListener } from "../../filesystem/disk/mutation.ts";
import { type Files, filesOver } from "../../filesystem/files/files.ts";
import type { Jail, JailRoot } from "../../filesystem/jail/folder.ts";
import { openJail, openRootsJail } from "../../filesystem/jail/jail.ts";
import { trialFor } from "../../filesystem/jail/probe-case-sensitivity.ts";
import { writeDenialOf } from "../../filesystem/jail/write-rules.ts";
import {
  findOtherJournals,
  hasRecords,
  type LocatedState,
  locateState,
  locateTemporaryState,
  openJournal,
  reasonForNone,
} from "../../filesystem/journal/journal-config.ts";
import { UnrecordedChanges } from "../../filesystem/journal/lost-changes.ts";
import { DiskTree } from "../../filesystem/operations/disk-tree.ts";
import { editLockIn } from "../../filesystem/transactions/root-lock.ts";
import { abandonedIn, createTransactions, recoverIn } from "../../filesystem/transactions/transactions.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { onlyRootOf, type RootConfig } from "../config/roots-config.ts";
import type { Config } from "../config.ts";
import type { CoderServices } from "../define.ts";
import type { ProfileDefaults } from "../profiles.ts";

/** The tree, and the listeners of its changes. */
export interface Storage
  extends Pick<
    CoderServices,
    | "jail"
    | "files"
    | "tree"
    | "journal"
    | "journalMissing"
    | "findOtherJournals"
    | "lossesOf"
    | "audit"
    | "transactions"
  > {
  /** Calls the listener for every change by a call from now on. */
  listen(listener: MutationListener): void;
  readonly tree: DiskTree;
  /** Returns the files and their changes below another jail around the same tree. */
  filesIn(jail: Jail): { readonly files: Files; readonly tree: DiskTree };
  /** The folder for state that outlives the process, if usable. */
  readonly stateFolder: LocatedState["folder"];
  /** The sentences about transactions of killed processes. */
  readonly recovered: readonly string[];
  close(): void;
}

interface Opening
  extends Partial<
    Pick<worker.OpenOptions, "configFiles" | "mode" | "readOnly" | "onlyReads" | "environment" | "log">
  > {
  readonly profile: ProfileDefaults;
}

/**
 * Opens the tree, and finishes the transactions of killed processes in it. Throws a `ConfigError`, or the
 * reason for not starting of the jail, or of a transaction that cannot be finished; then nothing stays open.
 */
export async function openStorage(config: Config, opening: Opening): Promise<Storage> {
  const opened: Closable[] = [];
  const close = () => {
    for (const one of opened.toReversed()) one.close();
  };
  try {
    return { ...(await openParts(config, opening, opened)), close };
  } catch (error) {
    close();
    throw error;
  }
}

type Closable = Pick<Storage, "close">;

/** Opens the parts, and adds each to `opened` as soon as it must be closed. */
async function openParts(
  config: Config,
  opening: Opening,
  opened: Closable[],
): Promise<Omit<Storage, "close">> {
  const { profile, mode, log = silent, readOnly = false, onlyReads = false, environment = {} } = opening;
  const jail = await beginAtOnce(openTree(config, opening));
  opened.push(jail);
  for (const { name: root, path, reason } of jail.missingRoots)
    log.warn("root not served", { root, path, reason });
  const roots = allRoots(jail);
  const shared = { config: config.journal, byDefault: profile.journal, log };
  const state = locateState({ ...shared, roots, environment, isReadOnly: readOnly, onlyReads });
  const journal = openJournal({
    ...shared,
    state: state.folder,
    // A person at a terminal continues the journal of an agent.
    byDefault: profile.journal || (mode === "call" && hasRecords(state.folder)),
  });
  const journalMissing = journal === undefined ? reasonForNone(config.journal, state) : undefined;
  const unrecorded =
    profile.journal && journalMissing?.isByConfiguration === false ? new UnrecordedChanges() : undefined;
  if (config.review !== null && journal === undefined)
    log.warn("the page has no changes to show", { reason: "no journal is kept; set the key journal" });
  // Transactions do not depend on a journal.
  const folder = state.folder ?? (readOnly || onlyReads ? undefined : locateTemporaryState({ roots, log }));
  if (journal !== undefined) opened.push(journal);
  const served = jail.roots.map(({ hostPath }) => hostPath);
  const audit = openAudit({ config: config.audit, roots: served, log, onlyReads });
  if (audit !== undefined) opened.push(audit);
  const listeners: MutationListener[] = [journal, unrecorded, audit].filter((one) => one !== undefined);
  const context = openDisk({
    jail,
    config,
    isAbandoned: folder && abandonedIn(folder),
    rootEditLock: folder && editLockIn(folder),
    listeners,
    onListenerError: (error) => log.error("a change was not recorded", { reason: String(error) }),
  });
  const recovered = folder && (await recoverIn({ files: context, folder, readOnly, log }));
  const filesIn = (scoped: Jail) => {
    const tree = new DiskTree({ ...context, jail: scoped });
    return { files: filesOver(scoped, (found, entries) => tree.sweepFolder(found, entries)), tree };
  };
  return {
    jail,
    ...filesIn(jail),
    filesIn,
    stateFolder: state.folder,
    recovered: recovered ?? [],
    journal,
    journalMissing,
    findOtherJournals: () => findOtherJournals({ config: config.journal, roots, environment }),
    lossesOf: (requester) => (journal ?? unrecorded)?.lossesOf(requester) ?? 0,
    audit,
    transactions: folder && createTransactions({ files: context, folder, log }),
    listen: (listener) => listeners.push(listener),
  };
}

/** Returns all roots, also missing ones, because all of them determine the name of the state folder. */
const allRoots = ({ roots, missingRoots }: Jail): Pick<JailRoot, "name" | "hostPath">[] => [
  ...roots,
  ...missingRoots.map(({ name, path }) => ({ name, hostPath: path })),
];

function* openTree(config: Config, { profile, environment, ...opening }: Opening): Steps<Jail> {
  const shared = {
    deny: compileGlobSet(config.non_accessible_globs),
    denyWriting: writeDenialOf({
      globs: config.write_deny_globs,
      except: config.write_allow_globs,
      byDefault: profile.write_deny_globs,
      gitUser: readGitUser(environment ?? {}),
    }),
    foldDeny: config.fold_deny,
    namesDenyingGlobs: profile.explained_errors,
    paths: profile.absolute_paths ? ("either" as const) : ("relative" as const),
    protectedFiles: opening.configFiles,
    trial: trialFor(opening),
    backend: readRuntimeOptions(environment ?? {}).backend,
  };
  const only = onlyRootOf(config);
  if (only === undefined) return yield* openRootsJail({ ...shared, roots: config.roots!.map(optionsOf) });
  const { isReadOnly, deny } = optionsOf(only);
  const denied = [...shared.deny.patterns, ...deny.patterns];
  return openJail({ ...shared, basePath: only.path, isReadOnly, deny: compileGlobSet(denied) });
}

const optionsOf = ({ name, path, read_only: isReadOnly, non_accessible_globs: globs }: RootConfig) => ({
  name,
  path,
  isReadOnly,
  deny: compileGlobSet(globs),
});

const silent = createLog({ level: "error", form: "text", write: () => {} });
