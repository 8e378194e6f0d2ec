import { resolve } from "node:path";
import { openAudit } from "../audit/audit-config.ts";
import { readRuntimeOptions } from "../config/environment.ts";
import { ConfigError, checkKeys } from "../config/file.ts";
import type * as worker from "../contract/definition.ts";
import { createFilesContext, filesOver } from "../files/files.ts";
import { compileExcludeGlobs } from "../globs/exclude-globs.ts";
import { compileGlobSet, GlobError } from "../globs/glob-set.ts";
import { adviceAgainst } from "../globs/unmatchable.ts";
import { IgnoreFiles } from "../ignore/ignore-files.ts";
import { trialFor } from "../jail/case-sensitivity.ts";
import { openJail } from "../jail/jail.ts";
import { hasRecords, locateState, openJournal } from "../journal/journal-config.ts";
import { createLog, type Log } from "../log/log.ts";
import { openQuotas } from "../quotas/quotas-config.ts";
import { createRegexEngine } from "../regex/engine.ts";
import { createSearcher } from "../search/search.ts";
import { editLockIn } from "../transactions/root-lock.ts";
import { abandonedIn, createTransactions, recoverIn } from "../transactions/transactions.ts";
import { type Config, configSchema } from "./config.ts";
import type { CoderServices } from "./define.ts";
import { renderCoderError } from "./errors.ts";
import { profileOf } from "./profiles.ts";
import { Plans } from "./transacting/plans.ts";

/** The services of `coder::*`, open until closed. */
export type CoderRuntime = CoderServices & worker.Runtime;

/** Loads the configuration; `basePath` replaces its own. Throws a `ConfigError`. */
export function loadConfig({ config: { source, keys }, basePath, environment }: ConfigOptions): Config {
  const config = checkKeys(keys, { schema: configSchema, source, environment });
  requireGlobs(config, source);
  return basePath === undefined ? config : { ...config, base_path: basePath };
}

type ConfigOptions = Pick<worker.OpenOptions, "config" | "basePath" | "environment">;

/** What an operator should know about the configuration, before the first call. */
export function warnAboutGlobs(
  { base_path, non_accessible_globs: globs, write_deny_globs: writeGlobs }: Config,
  log: Log,
): void {
  const lists = { non_accessible_globs: globs, write_deny_globs: writeGlobs ?? [] };
  for (const [key, list] of Object.entries(lists))
    for (const glob of list) {
      const reason = adviceAgainst(glob, resolve(base_path));
      if (reason !== undefined) log.warn("glob denies nothing", { key, glob, reason });
    }
}

/** Where the configuration comes from; absent where a program made it. */
interface Opening
  extends Partial<
    Pick<worker.OpenOptions, "config" | "configFiles" | "mode" | "readOnly" | "environment" | "log">
  > {
  /** The functions that callers are offered. */
  readonly functionIds?: readonly string[];
}

/**
 * Opens everything that calls work with, and finishes the transactions of killed processes first. Throws a `ConfigError`, or
 * the reason for not starting of the jail, or of a transaction that cannot be finished.
 */
export async function openCoder(config: Config, opening: Opening = {}): Promise<CoderRuntime> {
  const { backend, threads } = readRuntimeOptions(opening.environment ?? {});
  const byMode = opening.mode === "mcp" ? "agent" : "contract";
  const profileName = config.profile === "auto" ? byMode : config.profile;
  const profile = profileOf(profileName);
  const jail = openJail({
    basePath: config.base_path,
    deny: compileGlobSet(config.non_accessible_globs),
    denyWriting: compileGlobSet(config.write_deny_globs ?? profile.write_deny_globs),
    foldDeny: config.fold_deny,
    paths: profile.absolute_paths ? "either" : "relative",
    protectedFiles: opening.configFiles,
    trial: trialFor(opening),
    backend,
  });
  const { log = silent, readOnly = false, environment = {} } = opening;
  const folder = locateState({ config: config.journal, root: jail.hostPath(""), environment, log });
  const journal = openJournal({
    config: config.journal,
    state: folder,
    // A person at a terminal goes on with the journal of an agent.
    byDefault: profile.journal || (opening.mode === "call" && hasRecords(folder)),
    log,
  });
  const audit = openAudit({ config: config.audit, root: jail.hostPath(""), log });
  const listeners = [journal, audit].filter((listener) => listener !== undefined);
  const context = createFilesContext({
    jail,
    config,
    isAbandoned: folder && abandonedIn(folder),
    rootEditLock: folder && editLockIn(folder),
    listeners,
    onListenerError: (error) => log.error("a change was not recorded", { reason: String(error) }),
  });
  const files = filesOver(context);
  if (folder !== undefined)
    await recoverIn({ files: context, folder, readOnly, log }).catch((error: unknown) => {
      jail.close();
      throw error;
    });
  const regex = createRegexEngine({ threads });
  const mode = config.index === "auto" ? profile.index : config.index;
  const searcher = createSearcher({
    jail,
    files,
    regex,
    threads,
    index: { mode, maxBytes: config.index_max_bytes },
  });
  const stopping = new AbortController();
  let sweeping: Promise<number> | undefined;
  const sweep = () => {
    sweeping = files.sweep(stopping.signal);
    return sweeping;
  };
  return {
    serves: { base_path: jail.hostPath(""), config: opening.config?.source ?? "defaults" },
    config,
    profileName,
    profile,
    functionIds: opening.functionIds ?? [],
    isReadOnly: readOnly,
    openedAt: performance.now(),
    jail,
    files,
    journal,
    audit,
    ...(audit && { onFinished: (call) => audit.onFinished(call) }),
    transactions: folder && createTransactions({ files: context, folder, log }),
    plans: new Plans(),
    regex,
    ignoreFiles: new IgnoreFiles(jail),
    defaultExcludes: compileExcludeGlobs(config.default_exclude_globs),
    searcher,
    quotas: openQuotas(config.quotas),
    callMilliseconds: config.call_timeout_ms,
    maxAnswerBytes: config.max_answer_bytes,
    maxReadBytes: config.max_read_bytes,
    takesFlatEnvelopes: profile.flat_envelope,
    renderError: renderCoderError,
    ...(!readOnly && { sweep }),
    async close() {
      stopping.abort();
      await sweeping?.catch(() => {});
      await searcher.close();
      await regex.close();
      journal?.close();
      audit?.close();
      jail.close();
    },
  };
}

const silent = createLog({ level: "error", form: "text", write: () => {} });

function requireGlobs(config: Config, file: string): void {
  for (const key of ["non_accessible_globs", "write_deny_globs", "default_exclude_globs"] as const) {
    try {
      compileGlobSet(config[key] ?? []);
    } catch (error) {
      if (error instanceof GlobError) throw new ConfigError(`${file}: ${key}: ${error.message}`);
      throw error;
    }
  }
}
