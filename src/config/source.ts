/**
 * Whose configuration it is. The folder a worker is started in is often the one it serves, and a file there may be
 * anybody's: the iii engine's, an application's, a cloned repository's, or one that a caller has written. So there is one
 * order, it is decided here, and the log says what came of it. Where an operator's words are there and cannot be used,
 * nothing is served: the defaults could be wider.
 */
import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Log } from "../log/log.ts";
import { blockIn, engineKeyOf, seemsOfEngine, sourceOf } from "./engine.ts";
import { readLaunchVariables } from "./environment.ts";
import {
  ConfigError,
  type Keys,
  mappingIn,
  onlyMapping,
  parseForeignYaml,
  parseYaml,
  readText,
} from "./file.ts";

/** What a worker is started for. */
export type Mode = "serve" | "mcp" | "call";

/** A configuration that was found, not yet checked. */
export interface FoundConfig {
  /** A file, an entry of the engine's file, or `defaults`: for the log and for error sentences. */
  readonly source: string;
  readonly keys: Keys;
}

export interface ConfigQuery {
  /** The worker's own name. */
  readonly worker: string;
  /** The keys of its configuration, by which a file is known as its own. */
  readonly keys: readonly string[];
  readonly mode: Mode;
  /** `--config`. */
  readonly named: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** The file that is read from the current folder where no other is named. The iii engine's has the same name. */
const usualFile = "./config.yaml";

const defaults: FoundConfig = { source: "defaults", keys: {} };

/**
 * Finds the configuration: `--config`; when serving, else `$III_CONFIG`, else the block of the worker's entry in the
 * engine's file, else `./config.yaml` with keys of this worker; else the defaults. Throws a `ConfigError`.
 */
export async function findConfig(query: ConfigQuery): Promise<FoundConfig> {
  const { named, mode, environment } = query;
  const { configFile: ofCompose } = readLaunchVariables(environment);
  if (named !== undefined) return readNamed(named);
  if (mode !== "serve") return defaults;
  if (ofCompose !== undefined) return readNamed(ofCompose, "III_CONFIG");
  return (await ofEngine(query)) ?? (await ofCurrentFolder(query)) ?? defaults;
}

/** The configuration in the file at `path`. `variable` is the environment variable that names it, if one does. */
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

/** Files that decide the configuration, now or at the next start in this folder: host paths, also of what is not there. */
export function configFiles({ named, environment }: Pick<ConfigQuery, "named" | "environment">): string[] {
  const { configFile, engineConfigFile } = readLaunchVariables(environment);
  const files = [named, configFile, engineConfigFile, usualFile];
  return [...new Set(files.flatMap((file) => (file ? [resolve(file)] : [])))];
}

/** The engine that started this worker says which file it was started with. */
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
  const file = resolve(usualFile);
  const bytes = readIfThere(file);
  if (bytes === undefined) return undefined;
  const owner = await ownerOf(bytes.toString(), query.keys);
  if (owner === "worker") return readNamed(file);
  const block = owner === "engine" ? await blockOf(bytes.toString(), file, query) : undefined;
  if (block === undefined) query.log.info("not read", { file, reason: reasons[owner] });
  return block;
}

const reasons = {
  engine: "it is the configuration of an iii engine, and has no block for this worker",
  others: "it has no key of this worker",
} as const;

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return undefined;
    throw new ConfigError(`${file}: cannot be read (${code}); name another file with --config`);
  }
}

/** Whose file it is, by the keys at its top level. In what is no YAML, a line that begins with a key is one. */
async function ownerOf(text: string, ours: readonly string[]): Promise<"engine" | "worker" | "others"> {
  const { value, problem } = await parseForeignYaml(text);
  const keys = mappingIn(value) ?? {};
  if (problem === undefined ? engineKeyOf(keys) !== undefined : seemsOfEngine(text)) return "engine";
  const there = problem === undefined ? Object.keys(keys) : keysOfLines(text);
  return ours.some((key) => there.includes(key)) ? "worker" : "others";
}

const keysOfLines = (text: string): (string | undefined)[] =>
  [...text.matchAll(/^[\s{,-]*["']?([a-z_]+)["']?[ \t]*:/gm)].map(([, key]) => key);

/** What names the folder that a worker serves. */
export interface BaseQuery {
  readonly config: FoundConfig;
  /** `--base-path`. */
  readonly basePath: string | undefined;
  readonly mode: Mode;
  readonly log: Log;
}

/**
 * Some programs start servers in `/`, and people start a shell at home. Without a word from the operator neither is
 * served: throws a `ConfigError`. Over MCP, where the folder is not visible, any other is worth a warning.
 */
export function requireNamedBase({ config, basePath, mode, log }: BaseQuery): void {
  if (mode === "call" || basePath !== undefined || Object.hasOwn(config.keys, "base_path")) return;
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

function isHome(folder: string): boolean {
  try {
    return realpathSync(homedir()) === folder;
  } catch {
    return false;
  }
}
