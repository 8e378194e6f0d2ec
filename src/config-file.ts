/** Reading a configuration file: YAML with variables, against a schema that has every key once. */
import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import type { Static, TObject } from "@sinclair/typebox";
import { Mismatch, validate } from "./worker/validate.ts";

/** The configuration cannot be used. The message is one sentence with the file, the key and the reason. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The file that is read when no `--config` is given, if it is there. */
const usualConfigFile = "./config.yaml";

/** The file to read: the one given, or the usual one if there is one; undefined means the defaults. */
export const findConfigFile = (given: string | undefined): string | undefined =>
  given ?? (existsSync(usualConfigFile) ? usualConfigFile : undefined);

/** What is read, and where error sentences say that it stands. */
export interface ConfigText<Schema extends TObject> {
  readonly schema: Schema;
  readonly path: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Reads the YAML file at `path`; environment variables come from `environment`. Throws a `ConfigError`. */
export async function readConfigFile<Schema extends TObject>(
  file: ConfigText<Schema>,
): Promise<Static<Schema>> {
  return parseConfigText(readText(file.path), file);
}

/** The configuration that `text` (YAML) describes. Throws a `ConfigError`. */
export async function parseConfigText<Schema extends TObject>(
  text: string,
  { schema, path, environment }: ConfigText<Schema>,
): Promise<Static<Schema>> {
  const keys = expandVariables(onlyMapping(await parseYaml(text, path), path), {
    path,
    key: "",
    environment,
  });
  try {
    return validate(schema, keys, { unknownKeys: "refuse" });
  } catch (error) {
    if (error instanceof Mismatch) throw new ConfigError(`${path}: ${error.message}`);
    throw error;
  }
}

function readText(path: string): string {
  const bytes = readBytes(path);
  if (isUtf8(bytes)) return bytes.toString();
  throw new ConfigError(`${path}: is not UTF-8 text; save it as UTF-8`);
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new ConfigError(
      `${path}: cannot be read (${reason}); give the path of a readable YAML file to --config`,
    );
  }
}

/** What the parser only warns about, such as an unknown tag, would change the meaning of a key without a word. */
async function parseYaml(text: string, path: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) throw notYaml(path, problem);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw notYaml(path, error as Error);
  }
}

function notYaml(path: string, { message }: Error): ConfigError {
  return new ConfigError(`${path}: is not YAML: ${message.split("\n", 1)[0]}`);
}

/** The registry prints a configuration as a list that holds the one mapping. */
function onlyMapping(document: unknown, path: string): unknown {
  const keys = Array.isArray(document) && document.length === 1 ? document[0] : document;
  if (typeof keys === "object" && keys !== null && !Array.isArray(keys)) return keys;
  throw new ConfigError(`${path}: must be a mapping of keys to values; write {} for all defaults`);
}

interface Expansion {
  readonly path: string;
  readonly key: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** `${NAME}` in every string value; a name that is not set or empty is an error: the jail could widen by it. */
function expandVariables(value: unknown, { path, key, environment }: Expansion): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const replacement = environment[name];
      if (replacement) return replacement;
      throw new ConfigError(
        `${path}: ${key} uses \${${name}}, and that environment variable is not set or is empty`,
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
