import { resolve } from "node:path";
import { readRuntimeOptions } from "../config/environment.ts";
import { ConfigError, checkKeys } from "../config/file.ts";
import type * as worker from "../contract/definition.ts";
import { createFiles } from "../files/files.ts";
import { compileGlobSet, GlobError } from "../globs/glob-set.ts";
import { adviceAgainst } from "../globs/unmatchable.ts";
import { trialFor } from "../jail/case-sensitivity.ts";
import { openJail } from "../jail/jail.ts";
import type { Log } from "../log/log.ts";
import { createRegexEngine } from "../regex/engine.ts";
import { createSearcher } from "../search/search.ts";
import { type Config, configSchema } from "./config.ts";
import type { CoderServices } from "./define.ts";
import { renderCoderError } from "./errors.ts";

/** The services of `coder::*`, open until closed. */
export type CoderRuntime = CoderServices & worker.Runtime;

/** The configuration that was found, with `basePath` in the place of its own. Throws a `ConfigError`. */
export function loadConfig({ config: { source, keys }, basePath, environment }: ConfigOptions): Config {
  const config = checkKeys(keys, { schema: configSchema, source, environment });
  requireGlobs(config, source);
  return basePath === undefined ? config : { ...config, base_path: basePath };
}

type ConfigOptions = Pick<worker.OpenOptions, "config" | "basePath" | "environment">;

/** What an operator should know about the configuration, before the first call. */
export function warnAboutGlobs({ base_path, non_accessible_globs: globs }: Config, log: Log): void {
  for (const glob of globs) {
    const reason = adviceAgainst(glob, resolve(base_path));
    if (reason !== undefined) log.warn("glob denies nothing", { key: "non_accessible_globs", glob, reason });
  }
}

/** Where the configuration comes from; absent where a program made it. */
type Opening = Partial<
  Pick<worker.OpenOptions, "config" | "configFiles" | "mode" | "readOnly" | "environment">
>;

/** Opens everything that calls work with. Throws a `ConfigError`, or the jail's reason for not starting. */
export async function openCoder(config: Config, opening: Opening = {}): Promise<CoderRuntime> {
  const { backend, threads } = readRuntimeOptions(opening.environment ?? {});
  const jail = openJail({
    basePath: config.base_path,
    deny: compileGlobSet(config.non_accessible_globs),
    foldDeny: config.fold_deny,
    protectedFiles: opening.configFiles,
    trial: trialFor(opening),
    backend,
  });
  const files = createFiles({ jail, config });
  const regex = createRegexEngine({ threads });
  const searcher = createSearcher({ jail, files, regex, threads });
  const stopping = new AbortController();
  let sweeping: Promise<number> | undefined;
  const sweep = () => {
    sweeping = files.sweep(stopping.signal);
    return sweeping;
  };
  return {
    serves: { base_path: jail.hostPath(""), config: opening.config?.source ?? "defaults" },
    config,
    jail,
    files,
    regex,
    searcher,
    callMilliseconds: config.call_timeout_ms,
    maxAnswerBytes: config.max_answer_bytes,
    maxReadBytes: config.max_read_bytes,
    renderError: renderCoderError,
    ...(opening.readOnly !== true && { sweep }),
    async close() {
      stopping.abort();
      await sweeping?.catch(() => {});
      await searcher.close();
      await regex.close();
      jail.close();
    },
  };
}

function requireGlobs({ non_accessible_globs: globs }: Config, file: string): void {
  try {
    compileGlobSet(globs);
  } catch (error) {
    if (error instanceof GlobError) throw new ConfigError(`${file}: non_accessible_globs: ${error.message}`);
    throw error;
  }
}
