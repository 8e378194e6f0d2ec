/**
 * Finds the configuration. The folder that a worker starts in is often the one it serves, and a file there
 * may belong to the iii engine, an application, a cloned repository or a caller. So this file alone decides
 * the order of sources, and the log names the result. If an operator's configuration exists and cannot be
 * used, nothing is served, since the defaults could allow more.
 */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Log } from "../base/log/log.ts";
import { misspelt } from "../base/similar-name.ts";
import { readLaunchVariables } from "./environment.ts";
import {
  ConfigError,
  type Keys,
  mappingIn,
  onlyMapping,
  parseForeignYaml,
  parseYaml,
  readConfigFile,
  readText,
} from "./file.ts";
import { blockIn, engineKeyOf, seemsOfEngine, sourceOf } from "./worker-block.ts";

/** The modes of a worker, and `setup`, which adds it to a client. */
export type Mode = "serve" | "mcp" | "call" | "setup" | "review";

/** A configuration that is not validated yet. */
export interface FoundConfig {
  /** A file, an entry of the engine's file, or `defaults`, for the log and for error sentences. */
  readonly source: string;
  readonly keys: Keys;
}

export interface ConfigQuery {
  readonly worker: string;
  /** The keys of its configuration, which identify its files. */
  readonly keys: readonly string[];
  readonly mode: Mode;
  /** The configuration file that `--config` names. */
  readonly named: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** The file in the current folder, used if no other is found. The iii engine's file has the same name. */
const defaultFile = "./config.yaml";

const defaults: FoundConfig = { source: "defaults", keys: {} };

/**
 * Finds the configuration: `--config`; when serving, else `$III_CONFIG`, else the block of the worker's entry
 * in the engine's file, else `./config.yaml` with keys of this worker; else the defaults. Throws a
 * `ConfigError`.
 */
export async function findConfig(query: ConfigQuery): Promise<FoundConfig> {
  const { named, mode, environment } = query;
  const { configFile: ofCompose } = readLaunchVariables(environment);
  if (named !== undefined) return readNamed(named);
  if (mode !== "serve") return defaults;
  if (ofCompose !== undefined) return readNamed(ofCompose, "III_CONFIG");
  return (await ofEngine(query)) ?? (await ofCurrentFolder(query)) ?? defaults;
}

/**
 * Reads the configuration in the file at `path`. `variable` is the environment variable that names it, if
 * any.
 */
export async function readNamed(path: string, variable?: string): Promise<FoundConfig> {
  const file = resolve(path);
  const source = variable === undefined ? file : `${variable} (${file})`;
  const advice = `; give the path of a readable YAML file to ${variable ?? "--config"}`;
  const keys = onlyMapping(await parseYaml(readText(file, source, advice), source), source);
  const engineKey = engineKeyOf(keys);
  if (engineKey === undefined) return { source: file, keys };
  throw new ConfigError(
    `${source}: is the configuration file of an iii engine, with ${engineKey} at its top level; name a file with keys of the worker, by --config, or leave that out`,
  );
}

/**
 * Returns the host paths of files that determine the configuration, now or at the next start in this folder,
 * existing or not.
 */
export function configFiles({ named, environment }: Pick<ConfigQuery, "named" | "environment">): string[] {
  const { configFile, engineConfigFile } = readLaunchVariables(environment);
  const files = [named, configFile, engineConfigFile, defaultFile];
  return [...new Set(files.flatMap((file) => (file ? [resolve(file)] : [])))];
}

/** Finds the block in the configuration file of the engine that started this worker. */
async function ofEngine(query: ConfigQuery): Promise<FoundConfig | undefined> {
  const { engineConfigFile: path } = readLaunchVariables(query.environment);
  if (path === undefined) return undefined;
  const file = resolve(path);
  return blockOf(readText(file, `III_CONFIG_PATH (${file})`), file, query);
}

async function blockOf(
  text: string,
  file: string,
  { worker, environment }: ConfigQuery,
): Promise<FoundConfig | undefined> {
  const name = readLaunchVariables(environment).workerName ?? worker;
  const keys = await blockIn(text, { file, name, environment });
  return keys && { source: sourceOf({ file, name }), keys };
}

async function ofCurrentFolder(query: ConfigQuery): Promise<FoundConfig | undefined> {
  const file = resolve(defaultFile);
  const bytes = readIfThere(file);
  if (bytes === undefined) return undefined;
  const { owner, keys, problem } = await ownerOf(bytes.toString(), query.keys);
  if (owner === "worker") return readNamed(file);
  const block = owner === "engine" ? await blockOf(bytes.toString(), file, query) : undefined;
  if (block !== undefined) return block;
  const typo = owner === "engine" ? undefined : typoIn(keys, query.keys);
  const { log } = query;
  if (typo !== undefined) log.warn("not read", { file, reason: `${foreign}; did you mean ${typo}?` });
  else if (owner === "engine") log.info("not read", { file, reason: bare });
  else log.info("not read", { file, reason: problem ? `${foreign}, and is not YAML: ${problem}` : foreign });
  return undefined;
}

const bare = "it is the configuration of an iii engine, and has no block for this worker";
const foreign = "it has no key of this worker";

/** Returns the first key that is one typo away from one of ours, as the end of a question. */
function typoIn(keys: readonly string[], ours: readonly string[]): string | undefined {
  for (const key of keys) {
    const meant = misspelt(key, ours);
    if (meant !== undefined) return `${meant} by ${JSON.stringify(key)}`;
  }
  return undefined;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readConfigFile(file);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new ConfigError(`${file}: ${error.message}; name another file with --config`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return undefined;
    throw new ConfigError(`${file}: cannot be read (${code}); name another file with --config`);
  }
}

/**
 * Identifies the owner of a file by the keys at its top level, or, if it is not valid YAML, by lines that
 * begin with a key.
 */
async function ownerOf(text: string, ours: readonly string[]): Promise<Owned> {
  const { value, problem } = await parseForeignYaml(text);
  const mapping = mappingIn(value) ?? {};
  const keys = problem === undefined ? Object.keys(mapping) : keysOfLines(text);
  const isOfEngine = problem === undefined ? engineKeyOf(mapping) !== undefined : seemsOfEngine(text);
  const owner = isOfEngine ? "engine" : ours.some((key) => keys.includes(key)) ? "worker" : "others";
  return { owner, keys, problem };
}

interface Owned {
  readonly owner: "engine" | "worker" | "others";
  readonly keys: readonly string[];
  /** The reason why the file is not valid YAML, if it is not. */
  readonly problem: string | undefined;
}

const keysOfLines = (text: string): string[] =>
  [...text.matchAll(/^[\s{,-]*["']?([a-z_]+)["']?[ \t]*:/gm)].map(([, key]) => key!);

/** The settings that name the folder to serve. */
export interface BaseQuery {
  readonly config: FoundConfig;
  /** The folder that `--base-path` names. */
  readonly basePath: string | undefined;
  readonly mode: Mode;
  readonly log: Log;
}

/**
 * Refuses to serve `/` or the home folder unless it is named explicitly: some programs start servers in `/`,
 * and users start a shell at home. Throws a `ConfigError`. Over MCP, which does not show the folder, it warns
 * of any other.
 */
export function requireNamedBase({ config, basePath, mode, log }: BaseQuery): void {
  if (mode === "call" || basePath !== undefined || namesFolder(config.keys)) return;
  const folder = realpathSync(".");
  const what = folder === "/" ? "the whole machine" : isHome(folder) ? "the home folder" : undefined;
  if (what !== undefined)
    throw new ConfigError(
      `no folder is named, and the current one, ${folder}, is ${what}; name the folder to serve with --base-path`,
    );
  if (mode === "mcp")
    log.warn("no folder is named", {
      base_path: folder,
      reason: "the current one is served; name it with --base-path",
    });
}

/** Returns whether the keys name a folder. A key that is null takes away the one below it. */
const namesFolder = ({ base_path = null, roots = null }: Keys): boolean =>
  base_path !== null || roots !== null;

function isHome(folder: string): boolean {
  try {
    return realpathSync(homedir()) === folder;
  } catch {
    return false;
  }
}
