import { basename } from "node:path";
import { parseArgs } from "node:util";
import { defaultUrl, type WorkerName, workerNames } from "./about.ts";
import { type LogLevel, logLevels, originOf } from "./log/log.ts";

/** Which worker it is, where its configuration comes from, and what it is narrowed to. */
export interface ConfigSource {
  readonly worker: WorkerName;
  /** `--config`. Without it see `findConfig`. */
  readonly configFile: string | undefined;
  /** `--base-path`, which wins over the folder that the file names. */
  readonly basePath: string | undefined;
  readonly logLevel: LogLevel;
  /** `--read-only`: only functions that cannot change anything are there. */
  readonly readOnly: boolean;
}

/** Where HTTP is listened for, and the bearer token that every request must carry. */
export interface HttpAddress {
  /** An address or `localhost`; an IPv6 address without brackets. */
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Absent: one is made, if one is needed. */
  readonly token: string | undefined;
  /** False with `--no-token`: whoever reaches the address is served. */
  readonly needsToken: boolean;
}

/** Where the embedded engine listens on loopback, and the token that lets other users in, if one is set. */
export interface EmbeddedEngine {
  /** 0 for any free one. */
  readonly port: number;
  readonly token: string | undefined;
}

/** What the command line asks for. */
export type Command =
  | {
      readonly name: "manifest" | "licenses" | "version" | "help";
      readonly worker: WorkerName;
    }
  | {
      readonly name: "print-schema";
      readonly worker: WorkerName;
      /** `--api`: the version of the published reference to print, instead of everything. */
      readonly api: string | undefined;
    }
  | (ConfigSource & {
      readonly name: "serve";
      readonly url: string;
      /** The engine to start in this process, if any. */
      readonly embedded: EmbeddedEngine | undefined;
    })
  | (ConfigSource & {
      readonly name: "mcp";
      /** Absent: standard input and output. */
      readonly http: HttpAddress | undefined;
    })
  | (ConfigSource & {
      readonly name: "call";
      readonly function: string;
      /** JSON text, `-` for standard input, or `@` and a file's path. */
      readonly payload: string;
      /** The engine to call through; absent: in this process. */
      readonly url: string | undefined;
    });

/** The command line makes no sense; the message is one line that names the flag. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const options = {
  worker: { type: "string" },
  config: { type: "string" },
  "base-path": { type: "string" },
  url: { type: "string" },
  engine: { type: "string" },
  "log-level": { type: "string" },
  "read-only": { type: "boolean" },
  http: { type: "string" },
  token: { type: "string" },
  "no-token": { type: "boolean" },
  "print-schema": { type: "boolean" },
  api: { type: "string" },
  manifest: { type: "boolean" },
  licenses: { type: "boolean" },
  version: { type: "boolean", short: "v" },
  help: { type: "boolean", short: "h" },
} as const;

const answers = ["help", "version", "manifest", "licenses"] as const;

/** The worker that a program of this name is; `coder` by any other. `argv0` is how the program was called. */
export const workerCalled = (argv0: string): WorkerName =>
  workerNames.find((name) => name === basename(argv0)) ?? "coder";

/**
 * Reads the arguments after the program's name (coder §2). `called` is the worker of that name.
 * Throws a `UsageError`.
 */
export function parseArguments(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  called: WorkerName = "coder",
): Command {
  const { flags, words } = readFlags(argv, called);
  const worker = parseWorker(flags.get("worker") ?? called);
  for (const name of answers) if (flags.has(name)) return { name: name, worker };
  if (flags.has("print-schema")) return { name: "print-schema", worker, api: flags.get("api") };
  const source: ConfigSource = {
    worker,
    configFile: flags.get("config"),
    basePath: flags.get("base-path"),
    logLevel: parseLogLevel(flags.get("log-level") ?? (environment["CODER_LOG"] || undefined)),
    readOnly: flags.has("read-only"),
  };
  const given = { words, flags, program: called, source, environment };
  refuseFlags(given, ["api"], "only goes with --print-schema");
  if (words[0] === "mcp") return parseMcp(given);
  refuseFlags(given, ["http", "no-token"], "only goes with mcp");
  if (!flags.has("engine")) refuseFlags(given, ["token"], "only goes with --http or --engine embedded");
  if (words.length > 0) return parseCall(given);
  return {
    ...source,
    name: "serve",
    url: parseUrl(
      flags.get("url") ?? (environment["III_URL"] || environment["III_ENGINE_URL"] || defaultUrl),
    ),
    embedded: parseEngine(given),
  };
}

interface Flags {
  /** What the program was called as, for error sentences. */
  readonly program: WorkerName;
  readonly flags: ReadonlyMap<string, string>;
  readonly words: readonly string[];
}

function readFlags(argv: readonly string[], program: WorkerName): Flags {
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option") flags.set(token.name, flagValue(token, program));
  }
  return { program, flags, words };
}

interface GivenFlag {
  readonly name: string;
  /** With its dashes, as on the command line. */
  readonly rawName: string;
  readonly value?: string | undefined;
}

function flagValue({ name, rawName, value }: GivenFlag, program: WorkerName): string {
  if (!Object.hasOwn(options, name))
    throw new UsageError(`${rawName} is not a flag of ${program}; see ${program} --help`);
  if (options[name as keyof typeof options].type === "boolean") {
    if (value === undefined) return "";
    throw new UsageError(`${rawName} takes no value`);
  }
  if (value === undefined || value === "" || /^--?[a-z]/.test(value)) {
    throw new UsageError(`${rawName} needs a value; see ${program} --help`);
  }
  return value;
}

function parseUrl(url: string): string {
  if (/^wss?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(
    `--url (or III_URL) is ${JSON.stringify(originOf(url))}; it must look like ${defaultUrl}`,
  );
}

function parseWorker(name: string): WorkerName {
  const known = workerNames.find((candidate) => candidate === name);
  if (known !== undefined) return known;
  throw new UsageError(`--worker is ${JSON.stringify(name)}; it must be one of ${workerNames.join(", ")}`);
}

function parseLogLevel(level: string | undefined): LogLevel {
  const known = logLevels.find((name) => name === (level ?? "info"));
  if (known !== undefined) return known;
  throw new UsageError(
    `--log-level (or CODER_LOG) is ${JSON.stringify(level)}; it must be one of ${logLevels.join(", ")}`,
  );
}

function parseEngine({ flags, environment }: Given): EmbeddedEngine | undefined {
  const engine = flags.get("engine");
  if (engine === undefined) return undefined;
  const [, port = new URL(defaultUrl).port] = /^embedded(?::(\d{1,5}))?$/.exec(engine) ?? [undefined, ""];
  if (port === "" || Number(port) > 65_535) {
    throw new UsageError(
      `--engine is ${JSON.stringify(engine)}; it must be embedded or embedded:PORT (0 for any free port)`,
    );
  }
  return { port: Number(port), token: parseToken({ flags, environment }) };
}

interface Given extends Flags {
  readonly source: ConfigSource;
  readonly environment: NodeJS.ProcessEnv;
}

function parseMcp(given: Given): Command {
  const { words, flags, source } = given;
  if (words.length > 1)
    throw new UsageError(`mcp takes no further words; ${JSON.stringify(words[1])} is too much`);
  refuseFlags(given, ["url", "engine"], "does not go with mcp, which needs no engine");
  const address = flags.get("http");
  if (address === undefined) refuseFlags(given, ["token", "no-token"], "only goes with --http");
  if (flags.has("token")) refuseFlags(given, ["no-token"], "does not go with --token");
  const needsToken = !flags.has("no-token");
  if (address === undefined) return { ...source, name: "mcp", http: undefined };
  const http = parseHttp(address, needsToken ? parseToken(given) : undefined);
  return { ...source, name: "mcp", http: { ...http, needsToken } };
}

/** Fewer can be guessed. */
const fewestTokenCharacters = 16;

function parseToken({ flags, environment }: Pick<Given, "flags" | "environment">): string | undefined {
  const token = flags.get("token") ?? (environment["CODER_TOKEN"] || undefined);
  if (token !== undefined && token.length < fewestTokenCharacters)
    throw new UsageError(`--token (or CODER_TOKEN) needs at least ${fewestTokenCharacters} characters`);
  return token;
}

function parseHttp(address: string, token: string | undefined): Omit<HttpAddress, "needsToken"> {
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([\da-f:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/i.exec(address) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) {
    throw new UsageError(
      `--http is ${JSON.stringify(address)}; it must be a port, or an address and a port such as 127.0.0.1:8080 or [::1]:8080`,
    );
  }
  const host = bracketed ?? plain ?? "127.0.0.1";
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--http ${address} can be reached from other machines and needs a bearer token; set CODER_TOKEN or --token`,
    );
  }
  return { host, port, token };
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

function refuseFlags({ flags, program }: Flags, names: readonly string[], why: string): void {
  const name = names.find((candidate) => flags.has(candidate));
  if (name !== undefined) throw new UsageError(`--${name} ${why}; see ${program} --help`);
}

/** A function to name to somebody who named none. */
const sample: Readonly<Record<WorkerName, string>> = { coder: "coder::read-file", shell: "shell::exec" };

function parseCall({ program, words, flags, source, environment }: Given): Command {
  const [command, id, payload = "{}", extra] = words;
  if (command !== "call")
    throw new UsageError(`${JSON.stringify(command)} is not a command of ${program}; see ${program} --help`);
  if (id === undefined)
    throw new UsageError(
      `call needs the name of a function, such as ${sample[source.worker]}; see ${program} --help`,
    );
  if (extra !== undefined)
    throw new UsageError(`call takes one payload; ${JSON.stringify(extra)} is too much (quote the JSON)`);
  if (flags.has("engine"))
    throw new UsageError("--engine does not go with call; give --url to call through an engine");
  const url = flags.get("url") ?? (environment["III_URL"] || undefined);
  return {
    ...source,
    name: "call",
    function: id.includes("::") ? id : `${source.worker}::${id}`,
    payload,
    url: url === undefined ? undefined : parseUrl(url),
  };
}
