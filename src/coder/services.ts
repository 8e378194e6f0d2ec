import { resolve } from "node:path";
import { about } from "../base/about.ts";
import type { Log } from "../base/log/log.ts";
import { openApprovals } from "../calls/approval/approval-keys.ts";
import type * as worker from "../calls/contract/definition.ts";
import { openQuotas } from "../calls/quotas/quotas-config.ts";
import { readRuntimeOptions } from "../config/environment.ts";
import { ConfigError, checkKeys } from "../config/file.ts";
import { ConfigStatus } from "../config/status.ts";
import { AnnouncedCommands } from "../filesystem/feed/announced-commands.ts";
import { Feed } from "../filesystem/feed/feed.ts";
import { LineCounts } from "../filesystem/files/line-counts.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import { pathDependencies } from "../filesystem/jail/path-dependencies.ts";
import { openSweeper } from "../filesystem/operations/sweeper.ts";
import { folderIdentity } from "../filesystem/transactions/prepare.ts";
import { logIncomplete } from "../filesystem/watch/log-incomplete.ts";
import { SharedTree } from "../filesystem/watch/shared-tree.ts";
import { IgnoreFiles } from "../search/ignore/ignore-files.ts";
import { createSearcher, type SearcherOptions } from "../search/search.ts";
import { compileExcludeGlobs } from "../text/globs/exclude-globs.ts";
import { compileGlobSet, GlobError } from "../text/globs/glob-set.ts";
import { adviceAgainst } from "../text/globs/unmatchable.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { changedOver } from "./changes/changed.ts";
import { FeedReaders } from "./changes/readers.ts";
import { findOthersWork, renderOthersWork } from "./checkpoints/authors.ts";
import { encodingRulesOf } from "./config/encodings-config.ts";
import { onlyRootOf, requireRoots } from "./config/roots-config.ts";
import { type Config, configSchema, defaultConfig } from "./config.ts";
import type { CoderServices, ExplainedWith } from "./define.ts";
import { renderCoderError } from "./error-codes.ts";
import { explainAbsence } from "./missing-paths/missing-path.ts";
import { proposeInside } from "./missing-paths/outside-path.ts";
import { type ProfileDefaults, type ProfileName, profileOf } from "./profiles.ts";
import { usualSearch } from "./search/matches.ts";
import { listRoots } from "./services/list-roots.ts";
import { explainScopedPath, narrowerOf } from "./services/scoped-services.ts";
import { ShownFiles } from "./services/shown-files.ts";
import { openStorage, type Storage } from "./services/storage.ts";
import { Plans } from "./transact/plans.ts";

/** The services of `coder::*`, open until closed. */
export type CoderRuntime = CoderServices & worker.Runtime & Pick<Storage, "tree" | "filesIn">;

/** Loads the configuration. `basePath` overrides its own. Throws a `ConfigError`. */
export function loadConfig({
  config: { source, keys },
  basePath,
  environment,
  approval,
}: ConfigOptions): Config {
  // Null takes away the base_path of a configuration that this one is merged over.
  const { base_path: given, ...others } = keys;
  const named = given === null ? others : keys;
  const config = checkKeys(named, { schema: configSchema, source, environment });
  requireGlobs(config, source);
  // The registry's defaults for this worker name its default, and iii merges them under the user's keys.
  const hasBasePath = Object.hasOwn(named, "base_path") && given !== defaultConfig().base_path;
  requireRoots({ config, source, hasBasePath, isOverridden: basePath !== undefined });
  return {
    ...config,
    ...(basePath !== undefined && { base_path: basePath }),
    ...(approval !== undefined && { approval }),
  };
}

type ConfigOptions = Pick<worker.OpenOptions, "config" | "basePath" | "environment" | "approval">;

/** Warns of configured globs without effect, before the first call. */
export function warnAboutGlobs(
  config: Pick<
    Config,
    "base_path" | "roots" | "non_accessible_globs" | "write_deny_globs" | "write_allow_globs"
  >,
  log: Log,
): void {
  const { non_accessible_globs: globs, write_deny_globs: writeGlobs, write_allow_globs: allowed } = config;
  const only = onlyRootOf(config);
  const warn = (key: string, list: readonly string[], base: string, isAllowed = false) => {
    for (const glob of list) {
      const reason = adviceAgainst(glob, resolve(base));
      if (reason === undefined) continue;
      if (isAllowed) log.warn("glob allows nothing", { key, glob, reason });
      else log.warn("glob denies nothing", { key, glob, reason });
    }
  };
  warn("non_accessible_globs", globs, only?.path ?? "/");
  warn("write_deny_globs", writeGlobs ?? [], only?.path ?? "/");
  warn("write_allow_globs", allowed, only?.path ?? "/", true);
  for (const { name, path, non_accessible_globs: own } of config.roots ?? [])
    warn(`roots: ${name}: non_accessible_globs`, own, path);
}

/** Returns the use of the index by searches. A search over several roots has no single watched tree. */
const indexModeOf = (mode: IndexOptions["mode"], { hasTop }: Jail): IndexOptions["mode"] =>
  hasTop && mode === "watched" ? "verified" : mode;

type IndexOptions = NonNullable<SearcherOptions["index"]>;

interface SavedIndexParts extends Pick<Storage, "jail" | "stateFolder"> {
  readonly config: Config;
  readonly opening: Opening;
  readonly profile: ProfileDefaults;
}

/** Returns the place of the saved index, if the configuration allows one. */
function savedIndexOf({
  config,
  opening,
  profile,
  jail,
  stateFolder,
}: SavedIndexParts): IndexOptions["saved"] {
  const mode = config.index_saved === "auto" ? profile.index_saved : config.index_saved;
  if (mode === "off" || stateFolder === undefined) return undefined;
  if (opening.onlyReads && stateFolder.find("") === undefined) return undefined;
  const roots = jail.roots.map(({ name }) => [name, folderIdentity(jail, name)]);
  // An older index may contain files that are denied now.
  const rules = [
    config.non_accessible_globs,
    config.roots?.map((root) => root.non_accessible_globs),
    opening.configFiles,
  ];
  return { state: stateFolder, identity: JSON.stringify([about.version, roots, rules]) };
}

/** The source of the configuration, unless a program made it. */
interface Opening
  extends Partial<
    Pick<
      worker.OpenOptions,
      "config" | "configFiles" | "mode" | "readOnly" | "onlyReads" | "environment" | "log" | "reloading"
    >
  > {
  /** The functions that callers are offered. */
  readonly functionIds?: readonly string[];
}

/**
 * Opens everything that calls work with, and finishes the transactions of killed processes first. Throws a
 * `ConfigError`, or the reason for not starting of the jail, or of a transaction that cannot be finished.
 */
export async function openCoder(config: Config, opening: Opening = {}): Promise<CoderRuntime> {
  const { threads } = readRuntimeOptions(opening.environment ?? {});
  const profileName = profileNamed(config, opening);
  const profile = profileOf(profileName);
  const defaultExcludes = compileExcludeGlobs(config.default_exclude_globs);
  const encodings = encodingRulesOf(config.encodings);
  const storage = await openStorage(config, { ...opening, profile });
  const { jail, files, tree, filesIn, journal, audit, transactions } = storage;
  const regex = createRegexEngine({ threads });
  const onIncomplete = opening.log && logIncomplete(opening.log);
  const treeOf = (name: string) => ({
    name,
    tree: new SharedTree({ openBase: () => jail.reopenFolder(name), onIncomplete }),
  });
  const base = treeOf("");
  const trees = jail.hasTop ? jail.roots.map(({ name }) => treeOf(name)) : [base];
  const searcher = createSearcher({
    jail,
    files,
    regex,
    threads,
    index: {
      mode: indexModeOf(config.index === "auto" ? profile.index : config.index, jail),
      maxBytes: config.index_max_bytes,
      tree: base.tree,
      saved: savedIndexOf({ config, profile, opening, ...storage }),
    },
  });
  const approvals = openApprovals(config);
  const feed = new Feed({
    jail,
    trees,
    listen: storage.listen,
    checkpointOf: journal && ((requester) => journal.checkpointOf(requester)),
    announced:
      storage.stateFolder && opening.onlyReads !== true
        ? new AnnouncedCommands(storage.stateFolder)
        : undefined,
  });
  const shownFiles = new ShownFiles(() => feed.position);
  if (profile["update-file.stale_lines"]) storage.listen(shownFiles);
  const sweeper = openSweeper(tree);
  const ignoreFiles = new IgnoreFiles(jail);
  const narrow = narrowerOf(storage);
  const listedTrees = () =>
    trees.flatMap(({ name, tree: { complete } }) => (complete ? [{ name, tree: complete }] : []));
  const explain = (error: unknown, seen: Jail, { onDisk, call }: ExplainedWith = {}) =>
    profile.explained_errors
      ? explainAbsence(error, {
          ...{ jail: seen, journal, defaultExcludes, listedTrees, call },
          ...(onDisk !== undefined && { onDisk }),
        })
      : error;
  const rendererFor = (seen: Jail) => (error: unknown, call?: worker.FailedCall) =>
    renderCoderError(
      profile.explained_errors
        ? explainScopedPath(proposeInside(explain(error, seen, { call }), seen, call), seen)
        : error,
    );
  return {
    triggers: [changedOver({ feed, jail, ignoreFiles, profile })],
    treeChanges: new FeedReaders(feed),
    keepsJournal: journal !== undefined,
    ...(journal && { prepareWriting: () => journal.catchUp() }),
    listRoots: () => listRoots(jail),
    ...(journal && { describeOthers: () => describeOthers({ journal, jail }) }),
    serves: { ...servedBy(jail), config: opening.config?.source ?? "defaults" },
    config,
    profileName,
    profile,
    functionIds: opening.functionIds ?? [],
    isReadOnly: opening.readOnly ?? false,
    explain,
    configStatus: opening.reloading?.status ?? new ConfigStatus(),
    openedAt: performance.now(),
    jail,
    files,
    tree,
    filesIn,
    lineCounts: new LineCounts(),
    journal,
    journalMissing: storage.journalMissing,
    findOtherJournals: storage.findOtherJournals,
    // A person at a terminal cannot distinguish sessions otherwise.
    namesAuthors: profile.authors || opening.mode === "call",
    lossesOf: storage.lossesOf,
    audit,
    ...(audit && { onFinished: (call) => audit.onFinished(call) }),
    transactions,
    plans: opening.mode === "call" ? undefined : new Plans(),
    feed,
    shownFiles,
    regex,
    ignoreFiles,
    defaultExcludes,
    encodings,
    searcher,
    watchedTree: base.tree,
    ...(config.review && { reviewPort: config.review.port }),
    quotas: openQuotas(config.quotas),
    approvals,
    callMilliseconds: config.call_timeout_ms,
    maxAnswerBytes: config.max_answer_bytes,
    maxReadBytes: config.max_read_bytes,
    takesFlatEnvelopes: profile.flat_envelope,
    renderError: rendererFor(jail),
    usesTransportNames: profile.transport_names,
    requestRules: {
      unknownFields: config.unknown_fields === "auto" ? profile.unknown_fields : config.unknown_fields,
      isForgiving: profile.forgiving_arguments,
      places: {
        home: opening.environment?.["HOME"],
        roots: jail.roots.map(({ name, hostPath }) => ({ prefix: jail.hasTop ? `${name}/` : "", hostPath })),
        isAbsolute: false,
      },
    },
    narrow: (call) => {
      const narrowed = narrow(call);
      return narrowed && { ...narrowed, renderError: rendererFor(narrowed.jail) };
    },
    dependenciesOf: (path) => pathDependencies(path, jail),
    holds: {
      get "coder.index.files"() {
        return searcher.index?.files ?? 0;
      },
      get "coder.index.size"() {
        return searcher.index?.bytes ?? 0;
      },
      get "coder.journal.size"() {
        return journal?.bytes ?? 0;
      },
    },
    recovered: storage.recovered,
    ...(opening.readOnly !== true && { sweep: sweeper.sweep }),
    warmUp: () => searcher.warmUp(usualSearch({ config, encodings, profile, defaultExcludes, ignoreFiles })),
    interrupt: async () => approvals?.close(),
    async close() {
      await sweeper.stop();
      feed.close();
      await searcher.close();
      await regex.close();
      for (const { tree } of [base, ...trees]) tree.close();
      storage.close();
    },
  };
}

/** Describes the checkpoints of others to a new session, if it can read any. */
function describeOthers(services: Parameters<typeof findOthersWork>[0]): string | undefined {
  try {
    const work = findOthersWork(services, undefined);
    return work && renderOthersWork(work);
  } catch {
    return undefined;
  }
}

const servedBy = ({ hasTop, roots, hostPath }: Jail): Pick<worker.Serves, "base_path" | "roots"> =>
  hasTop
    ? { roots: roots.map((root) => `${root.name}=${root.hostPath}`).join(" ") }
    : { base_path: hostPath("") };

const profileNamed = ({ profile }: Config, { mode }: Opening): ProfileName => {
  if (profile !== "auto") return profile;
  return mode === "mcp" || mode === "review" ? "agent" : "contract";
};

function requireGlobs(config: Config, file: string): void {
  encodingRulesOf(config.encodings, file);
  for (const key of [
    "non_accessible_globs",
    "write_deny_globs",
    "write_allow_globs",
    "default_exclude_globs",
  ] as const) {
    try {
      compileGlobSet(config[key] ?? []);
    } catch (error) {
      if (error instanceof GlobError) throw new ConfigError(`${file}: ${key}: ${error.message}`, key);
      throw error;
    }
  }
}
