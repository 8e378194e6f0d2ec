import type { Log } from "../../base/log/log.ts";
import type { Audit } from "../../calls/audit/audit.ts";
import { openAudit } from "../../calls/audit/audit-config.ts";
import type { OpenOptions } from "../../calls/contract/definition.ts";
import { type RuntimeOptions, readGitUser } from "../../config/environment.ts";
import { ConfigError } from "../../config/file.ts";
import { openDisk } from "../../filesystem/disk/disk.ts";
import { AnnouncedCommands } from "../../filesystem/feed/announced-commands.ts";
import { Feed } from "../../filesystem/feed/feed.ts";
import { type Files, filesOver } from "../../filesystem/files/files.ts";
import type { FilesConfig } from "../../filesystem/files/types.ts";
import { globsForPaths } from "../../filesystem/jail/denylist-globs.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { openJail } from "../../filesystem/jail/jail.ts";
import { trialFor } from "../../filesystem/jail/probe-case-sensitivity.ts";
import { writeDenialOf } from "../../filesystem/jail/write-rules.ts";
import type { Journal } from "../../filesystem/journal/journal.ts";
import { locateState, openJournal } from "../../filesystem/journal/journal-config.ts";
import { DiskTree } from "../../filesystem/operations/disk-tree.ts";
import { openSweeper, type Sweeper } from "../../filesystem/operations/sweeper.ts";
import type { StateFolder } from "../../filesystem/state/state-folder.ts";
import { editLockIn } from "../../filesystem/transactions/root-lock.ts";
import { hasIntents, recoverIn } from "../../filesystem/transactions/transactions.ts";
import { logIncomplete } from "../../filesystem/watch/log-incomplete.ts";
import { SharedTree } from "../../filesystem/watch/shared-tree.ts";
import { createSearcher, type Searcher } from "../../search/search.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { RegexEngine } from "../../text/regex/rust-regex.ts";
import type { ShellConfig } from "../config.ts";
import type { CommandFeed } from "../observed.ts";
import type { ShellProfile } from "../profiles.ts";
import { Transfers } from "./transfers.ts";

/** The services of `shell::fs::*` on the host. */
export interface FsServices {
  readonly jail: Jail;
  readonly files: Files;
  readonly tree: DiskTree;
  /** Returns the same files below a jail for a part of the tree. */
  filesIn(jail: Jail): Pick<FsServices, "files" | "tree">;
  readonly searcher: Searcher;
  readonly transfers: Transfers;
  /** `undefined` if the configuration disables it. */
  readonly audit: Audit | undefined;
  /** `undefined` if the configuration disables it. */
  readonly journal: Journal | undefined;
  /**
   * Reports what commands change; `undefined` if nothing is served or the profile does not mention changes.
   */
  readonly feed: CommandFeed | undefined;
  /** `undefined` for the whole host, for a worker that only reads, and for the tree of another worker. */
  readonly sweeper?: Sweeper | undefined;
  /** The sentences about transactions of killed workers. */
  readonly recovered?: readonly string[];
  close(): Promise<void>;
}

/** Maximum bytes of a file to edit or search as a whole if the configuration sets no limit. */
export const largestWhole = 64 * 1024 * 1024;

interface FsDependencies {
  readonly regex: RegexEngine;
  readonly runtimeOptions: RuntimeOptions;
  readonly profile: ShellProfile;
  readonly opening: Partial<Pick<OpenOptions, "configFiles" | "mode" | "readOnly" | "onlyReads">>;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
}

/**
 * Opens the jail around `fs.host_root`, or around everything, after finishing the transactions that killed
 * workers left there. Throws a `ConfigError`, or the reason why one cannot be finished.
 */
export async function openFsServices(config: ShellConfig, dependencies: FsDependencies): Promise<FsServices> {
  const { fs } = config;
  const { regex, runtimeOptions, log } = dependencies;
  const jail = openShellJail(fs, dependencies);
  const state = stateFor(config, jail, dependencies);
  const journal = config.journal && openJournal({ config: config.journal, state, byDefault: false, log });
  const served = jail.roots.map(({ hostPath }) => hostPath);
  const { onlyReads } = dependencies.opening;
  const audit = openAudit({ config: config.audit, roots: served, log, onlyReads });
  const filesConfig = { max_write_bytes: fs.max_write_bytes || largestWhole, fsync: true };
  const hasLeft = state !== undefined && hasIntents(state);
  const recovered = hasLeft ? await recover(state, { ...dependencies, fs, filesConfig, jail }) : [];
  const disk = openDisk({
    jail,
    config: filesConfig,
    rootEditLock: state && editLockIn(state),
    listeners: [journal, audit].filter((listener) => listener !== undefined && listener !== null),
    onListenerError: (error) => log.error("a change was not recorded", { reason: String(error) }),
  });
  const filesIn = (scoped: Jail) => {
    const tree = new DiskTree({ ...disk, jail: scoped });
    return { files: filesOver(scoped, (folder, entries) => tree.sweepFolder(folder, entries)), tree };
  };
  const { files, tree } = filesIn(jail);
  // The whole host is not watched: it has more folders than a user may watch.
  const onIncomplete = logIncomplete(log);
  const watched =
    fs.host_root === null
      ? undefined
      : new SharedTree({ openBase: () => jail.reopenFolder(""), onIncomplete });
  const index = { mode: config.index, maxBytes: config.index_max_bytes, tree: watched };
  const searcher = createSearcher({ jail, files, regex, threads: runtimeOptions.threads, index });
  const transfers = new Transfers();
  const sweeper = sweeperOf(tree, fs, dependencies);
  const feed =
    watched && dependencies.profile.command_remarks ? openCommandFeed(jail, watched, state) : undefined;
  return {
    jail,
    files,
    tree,
    filesIn,
    searcher,
    transfers,
    audit,
    journal: journal ?? undefined,
    feed,
    sweeper,
    recovered,
    async close() {
      feed?.close();
      transfers.close();
      await sweeper?.stop();
      await searcher.close();
      watched?.close();
      journal?.close();
      audit?.close();
      jail.close();
    },
  };
}

const sweeperOf = (tree: DiskTree, { host_root }: ShellConfig["fs"], { opening }: FsDependencies) =>
  host_root === null || opening.readOnly === true ? undefined : openSweeper(tree);

/** Opens the feed for commands. It does not distinguish changes by calls, since only commands read it. */
const openCommandFeed = (jail: Jail, tree: SharedTree, state: StateFolder | undefined): Feed =>
  new Feed({
    jail,
    trees: [{ name: "", tree }],
    listen: () => {},
    announced: state && new AnnouncedCommands(state),
  });

/** Opens the services over the tree of another worker, which closes the tree. */
export function openFsOver({
  jail,
  files,
  tree,
  filesIn,
  searcher,
  audit,
  journal,
  feed,
}: Omit<FsServices, "transfers" | "sweeper" | "close">): FsServices {
  const transfers = new Transfers();
  return {
    jail,
    files,
    tree,
    filesIn,
    searcher,
    audit,
    journal,
    feed,
    transfers,
    close: async () => transfers.close(),
  };
}

/**
 * Opens the state folder that all workers of a root share, so that `coder::undo` of another one finds the
 * journal of this one.
 */
function stateFor(
  { journal: config, fs }: ShellConfig,
  jail: Jail,
  { environment, log, opening: { onlyReads } }: FsDependencies,
): StateFolder | undefined {
  // If the whole host is served, no folder is outside of it.
  if (config === null && fs.host_root === null) return undefined;
  return locateState({ config, roots: jail.roots, environment, log, onlyReads }).folder;
}

interface Recovering extends FsDependencies {
  readonly fs: ShellConfig["fs"];
  readonly filesConfig: FilesConfig;
  readonly jail: Jail;
}

/**
 * Finishes transactions of killed workers. If the rules of this one deny a transaction, the worker that began
 * it finishes it. Returns what was logged.
 */
async function recover(
  folder: StateFolder,
  { fs, jail, filesConfig, ...dependencies }: Recovering,
): Promise<string[]> {
  const { opening, log } = dependencies;
  // Records of transactions have relative paths.
  const relative = openShellJail(fs, dependencies, "relative");
  try {
    const files = openDisk({ jail: relative, config: filesConfig });
    return await recoverIn({ files, folder, readOnly: opening.readOnly ?? false, log });
  } catch (error) {
    jail.close();
    throw error;
  } finally {
    relative.close();
  }
}

function openShellJail(
  fs: ShellConfig["fs"],
  { opening, profile, environment, runtimeOptions: { backend } }: FsDependencies,
  paths: "absolute" | "either" | "relative" = profile.relative_paths && fs.host_root !== null
    ? "either"
    : "absolute",
): Jail {
  const basePath = fs.host_root ?? "/";
  try {
    return openJail({
      basePath,
      deny: compileGlobSet([
        ...globsForPaths(basePath, fs.denylist_paths),
        ...(fs.deny_globs ?? profile["fs.deny_globs"]),
      ]),
      denyWriting: writeDenialOf({
        globs: fs.write_deny_globs,
        except: fs.write_allow_globs,
        byDefault: profile["fs.write_deny_globs"],
        gitUser: readGitUser(environment),
      }),
      foldDeny: fs.fold_deny,
      namesDenyingGlobs: profile.explained_errors,
      protectedFiles: opening.configFiles,
      trial: trialFor(opening),
      paths,
      backend,
    });
  } catch (error) {
    throw new ConfigError((error as Error).message.replace("base_path", "fs.host_root"));
  }
}
