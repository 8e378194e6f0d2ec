/** Reads configurations: YAML with variables, validated by a schema with every key. */
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Mismatch, validate } from "../base/schema/validate.ts";
import { Pool } from "../base/threads/pool.ts";
import { canSpawn } from "../base/threads/spawn.ts";
import type { ParsedYaml, YamlProblem, YamlText } from "./yaml.ts";

/**
 * Thrown for a configuration that cannot be used. The message is one sentence with the file, the key and the
 * reason.
 */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";
  /** The wrong key, if a single one is. */
  readonly key: string | undefined;

  constructor(message: string, key?: string) {
    super(message);
    this.key = key;
  }
}

/**
 * Thrown if a key differs from the value that the worker was started with, and cannot change while it runs.
 */
export class FixedKeyError extends ConfigError {
  override readonly name = "FixedKeyError";

  constructor(key: string) {
    super(`${key} cannot change while the worker runs; restart it, or put the old value back`, key);
  }
}

/** Throws if `next` and `running` differ in one of the keys. */
export function requireSame(next: Keys, running: Keys, fixed: readonly string[]): void {
  const changed = fixed.find((key) => JSON.stringify(next[key]) !== JSON.stringify(running[key]));
  if (changed !== undefined) throw new FixedKeyError(changed);
}

/** A mapping as written in a file, with variables not yet expanded. */
export type Keys = Readonly<Record<string, unknown>>;

/** The schema of the keys, and their source for error sentences. */
export interface KeyRules<Schema extends TObject> {
  readonly schema: Schema;
  readonly source: string;
  /** The values of the variables. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Expands and validates `keys`, and adds defaults. Throws a `ConfigError`. */
export function checkKeys<Schema extends TObject>(
  keys: Keys,
  { schema, source, environment }: KeyRules<Schema>,
): Static<Schema> {
  requireFewValues(keys, source);
  try {
    const expanded = expandVariables(keys, { path: source, key: "", environment });
    return validate(schema, expanded, { unknownKeys: "refuse" });
  } catch (error) {
    if (error instanceof Mismatch)
      throw new ConfigError(`${source}: ${error.message}`, knownPartOf(error.field, schema));
    if (error instanceof ConfigError) throw new ConfigError(error.message, knownPartOf(error.key, schema));
    throw error;
  }
}

/** Maximum values in a configuration, with those in lists and mappings: all are checked in one step. */
const maxValues = 10_000;

function requireFewValues(keys: Keys, source: string): void {
  let count = 0;
  const waiting: unknown[] = [keys];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const below = typeof value === "object" && value !== null ? Object.values(value) : [];
    count += below.length;
    if (count > maxValues)
      throw new ConfigError(
        `${source}: has more than ${maxValues} values; a configuration may have ${maxValues}`,
      );
    waiting.push(...below.filter((one) => typeof one === "object" && one !== null));
  }
}

/**
 * Returns the longest beginning of a key that the schema has, or `undefined` if it has none of it. In a file
 * that is not a configuration, any line may be a key, and errors show their key to callers.
 */
function knownPartOf(key: string | undefined, schema: TSchema): string | undefined {
  const names: string[] = [];
  let at: TSchema | undefined = schema;
  for (const name of key?.split(".") ?? []) {
    const [plain = ""] = name.split("[");
    at = objectIn(at)?.properties[plain];
    if (at === undefined) break;
    names.push(plain);
  }
  return names.length === 0 ? undefined : names.join(".");
}

/** Returns the object that a schema describes, or that it describes in a list or beside null. */
function objectIn(schema: TSchema | undefined): TObject | undefined {
  if (schema === undefined || "properties" in schema) return schema as TObject | undefined;
  if ("items" in schema) return objectIn(schema["items"]);
  return (schema["anyOf"] as readonly TSchema[] | undefined)?.map(objectIn).find((one) => one !== undefined);
}

/** Parses and validates a configuration in YAML. Throws a `ConfigError`. */
export async function parseConfigText<Schema extends TObject>(
  text: string,
  rules: KeyRules<Schema>,
): Promise<Static<Schema>> {
  return checkKeys(onlyMapping(await parseYaml(text, rules.source), rules.source), rules);
}

/** Maximum bytes of a configuration. */
const maxConfigBytes = 256 * 1024;

/**
 * Reads a file without waiting for a writer. It reads only regular files, and files that a shell has opened,
 * which have a path in `/dev`. Throws the errno error, and a `ConfigError` for anything else and for a file
 * that is too large.
 */
export function readConfigFile(path: string): Buffer {
  if (path.startsWith("/dev/")) {
    const bytes = readFileSync(path);
    requireSize(bytes.length);
    return bytes;
  }
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw new ConfigError("is not a regular file");
    if (stats.isFile()) requireSize(stats.size);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function requireSize(bytes: number): void {
  if (bytes > maxConfigBytes)
    throw new ConfigError(`has ${bytes} bytes, and a configuration may have ${maxConfigBytes}`);
}

/** Reads a text file. Throws a `ConfigError` with `advice` if `source` cannot be read. */
export function readText(path: string, source: string, advice = ""): string {
  const bytes = readBytes(path, source, advice);
  if (isUtf8(bytes)) return bytes.toString();
  throw new ConfigError(`${source}: is not UTF-8 text; save it as UTF-8`);
}

function readBytes(path: string, source: string, advice: string): Buffer {
  try {
    return readConfigFile(path);
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(`${source}: ${error.message}${advice}`);
    const reason = (error as NodeJS.ErrnoException).code;
    throw new ConfigError(`${source}: cannot be read (${reason})${advice}`);
  }
}

/** Parses a YAML document without aliases. Throws a `ConfigError`. */
export async function parseYaml(text: string, source: string): Promise<unknown> {
  const { value, problem } = await parse({ text, isForeign: false });
  if (problem !== undefined) throw notYaml(source, problem);
  return value;
}

/**
 * Parses a YAML document of another program, with any tags and aliases. Returns its value, or the `problem`
 * that kept it from being parsed.
 */
export async function parseForeignYaml(text: string): Promise<{ value?: unknown; problem?: string }> {
  const { value, problem } = await parse({ text, isForeign: true });
  return problem === undefined ? { value } : { problem: firstLine(problem) };
}

/**
 * Maximum UTF-16 units that are parsed in one step, while a worker may serve. Each takes a microsecond or
 * two, and each key is compared with those before it in its mapping.
 */
const maxUnitsInStep = 8192;

async function parse(yaml: YamlText): Promise<ParsedYaml> {
  if (yaml.text.length > maxUnitsInStep && canSpawn()) return await parseInThread(yaml);
  const { parseYamlText } = await import("./yaml.ts");
  return parseYamlText(yaml);
}

async function parseInThread(yaml: YamlText): Promise<ParsedYaml> {
  const pool = new Pool<YamlText, ParsedYaml>({ program: "config", size: 1, depth: 1 });
  try {
    return await pool.run(yaml).reply;
  } finally {
    await pool.close();
  }
}

function notYaml(source: string, problem: YamlProblem): ConfigError {
  if (problem.code === "MULTIPLE_DOCS")
    return new ConfigError(`${source}: holds several documents of YAML; keep one, without a line of ---`);
  if (/^Alias resolution is disabled/.test(problem.message))
    return new ConfigError(`${source}: has an alias (*name), which is not supported; repeat the value`);
  return new ConfigError(`${source}: is not YAML: ${firstLine(problem)}`);
}

/** Returns the first line of a message, which the parser ends with a colon before the lines of the file. */
const firstLine = ({ message }: YamlProblem): string => message.split("\n", 1)[0]!.replace(/:$/, "");

/**
 * Returns the mapping in a document, or in a list that contains only that, as the registry prints it. Throws
 * a `ConfigError`.
 */
export function onlyMapping(document: unknown, source: string): Keys {
  const keys = mappingIn(document);
  if (keys !== undefined) return keys;
  throw new ConfigError(`${source}: must be a mapping of keys to values; write {} for all defaults`);
}

/** Like `onlyMapping`, but returns `undefined` if there is no mapping. */
export function mappingIn(document: unknown): Keys | undefined {
  const keys = Array.isArray(document) && document.length === 1 ? document[0] : document;
  return typeof keys === "object" && keys !== null && !Array.isArray(keys) ? keys : undefined;
}

interface Expansion {
  readonly path: string;
  readonly key: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Expands `${NAME}` in every string value. A variable that is unset or empty is an error, because it could
 * widen the jail.
 */
function expandVariables(value: unknown, { path, key, environment }: Expansion): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const replacement = environment[name];
      if (replacement) return replacement;
      throw new ConfigError(
        `${path}: ${key} uses \${${name}}, and that environment variable is not set or is empty`,
        key,
      );
    });
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, { path, key: `${key}[${index}]`, environment }));
  }
  if (typeof value !== "object" || value === null) return value;
  const expanded = Object.entries(value).map(([name, item]): [string, unknown] => [
    name,
    expandVariables(item, { path, key: key === "" ? name : `${key}.${name}`, environment }),
  ]);
  return Object.fromEntries(expanded);
}
