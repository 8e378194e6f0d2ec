import type { ConfigSource } from "./arguments.ts";
import type { CoderWorkshop } from "./coder/define.ts";
import { renderCoderError } from "./codes.ts";
import { type Config, defaultConfig, readConfig } from "./config.ts";
import { ConfigError, findConfigFile } from "./config-file.ts";
import { openFiles } from "./files/files.ts";
import { compileGlobSet, GlobError } from "./globs/glob-set.ts";
import { openJail } from "./jail/jail.ts";
import { openRegexEngine } from "./regex/engine.ts";
import { openSearcher } from "./search/search.ts";
import type * as worker from "./worker/define.ts";

/** The workshop of `coder::*`, open until closed. */
export type OpenWorkshop = CoderWorkshop & worker.OpenWorkshop;

/** Reads the configuration that the command line names. Throws a `ConfigError`. */
export async function loadConfig(
  source: Partial<ConfigSource>,
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const file = findConfigFile(source.configFile);
  const config = file === undefined ? defaultConfig() : await readConfig(file, environment);
  requireGlobs(config, file ?? "the default configuration");
  return source.basePath === undefined ? config : { ...config, base_path: source.basePath };
}

/** Opens everything that calls work with. Throws a `ConfigError`, or the jail's reason for not starting. */
export async function openWorkshop(config: Config): Promise<OpenWorkshop> {
  const jail = await openJail({
    basePath: config.base_path,
    deny: compileGlobSet(config.non_accessible_globs),
  });
  const files = openFiles({ jail, config });
  const regex = openRegexEngine();
  const searcher = openSearcher({ jail, files, regex });
  return {
    config,
    jail,
    files,
    regex,
    searcher,
    callMilliseconds: config.call_timeout_ms,
    renderError: renderCoderError,
    sweep: () => files.sweep(),
    async close() {
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
