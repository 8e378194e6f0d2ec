/**
 * Finds a worker's block in the configuration file of an iii engine: `config:` of its entry, which the engine
 * passes on as a file (bus §8). A worker that was started without that file finds its block here.
 */
import { ConfigError, type Keys, mappingIn, onlyMapping, parseForeignYaml } from "./file.ts";

/** The top-level keys of the engine's file; the second is the older name. */
const listKeys = ["workers", "modules"] as const;

/** Returns the first key that identifies a file as the engine's, or `undefined`. */
export const engineKeyOf = (keys: Keys): string | undefined =>
  listKeys.find((key) => Object.hasOwn(keys, key));

/** Returns whether the text of a file that is not valid YAML looks like the engine's. */
export const seemsOfEngine = (text: string): boolean => /^["']?(workers|modules)["']?[ \t]*:/m.test(text);

/** The entry to find, and its file. */
export interface EntryQuery {
  readonly file: string;
  /** The name of the entry. */
  readonly name: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Returns the block of the entry that `query` names in the text of the engine's file, or `undefined` if there
 * is no such entry, or it has no block. Throws a `ConfigError` for a block that cannot be used, instead of
 * ignoring it.
 */
export async function blockIn(text: string, query: EntryQuery): Promise<Keys | undefined> {
  const { file, name } = query;
  const { value, problem } = await parseForeignYaml(expand(text, query.environment));
  if (problem !== undefined) throw new ConfigError(`${file}: is not YAML: ${problem}`);
  const entries = entriesOf(value ?? {}, file).filter((entry) => entry["name"] === name);
  if (entries.length > 1)
    throw new ConfigError(
      `${file}: has ${entries.length} entries named ${name}; keep one, or name a file with --config`,
    );
  const block = entries[0]?.["config"] ?? undefined;
  if (block !== undefined) return onlyMapping(block, sourceOf(query));
  if (entries.length === 1) requireNotMoved(text, query);
  return undefined;
}

/** Returns the name of the block in the log and in error sentences. */
export const sourceOf = ({ file, name }: Omit<EntryQuery, "environment">): string => `${file}, entry ${name}`;

/**
 * Expands `${NAME}` and `${NAME:default}` in the text, like the engine does before it parses YAML. Keeps a
 * variable without a value, which is an error later if it is in this worker's entry, and irrelevant in
 * another.
 */
function expand(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(
    /\$\{([^}:]+)(?::([^}]*))?\}/g,
    (all, name: string, byDefault: string | undefined) => environment[name] ?? byDefault ?? all,
  );
}

function entriesOf(document: unknown, file: string): Keys[] {
  const keys = mappingIn(document);
  if (keys === undefined) throw new ConfigError(`${file}: is not the configuration of an iii engine`);
  const listed = listKeys.flatMap((key): unknown[] => (Array.isArray(keys[key]) ? keys[key] : []));
  return listed.map(mappingIn).filter((entry) => entry !== undefined);
}

/**
 * Throws if the engine has replaced the block by a comment, which it does at its next boot after any client
 * has set a value for this name in the configuration worker. From then on it passes no block on.
 */
function requireNotMoved(text: string, { file, name }: EntryQuery): void {
  const lines = text.split("\n").filter((line) => line.trimStart().startsWith("#"));
  if (!lines.some((line) => line.includes(`'${name}'`) && line.includes("configuration worker"))) return;
  throw new ConfigError(
    `${file}: the configuration of ${name} was moved to the configuration worker, which ${name} does not read; put the block back`,
  );
}
