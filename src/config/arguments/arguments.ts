import { basename, resolve } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { defaultUrl, type WorkerName, workerNames } from "../../base/about.ts";
import { type LogLevel, logLevels, originOf } from "../../base/log/log.ts";
import { maxSimilar } from "../../base/similar-name.ts";
import type { Mode } from "../source.ts";
import { expandAlias, tooManyWords } from "./aliases.ts";
import { type Conflict, type FlagName, flagNames, flags, renderFlag } from "./flags.ts";
import { type HttpAddress, parseHttpAddress } from "./http-address.ts";
import { UnknownCommand, UsageError } from "./usage-error.ts";

/** The worker, the source of its configuration, and restrictions. */
export interface ConfigSource {
  readonly worker: WorkerName;
  /** The value of `--config`; without it, see `findConfig`. */
  readonly configFile: string | undefined;
  /** The value of `--base-path`, which wins over the folder that the file names. */
  readonly basePath: string | undefined;
  /** The folders that are served as roots, if the command line names several. */
  readonly folders?: readonly string[];
  readonly logLevel: LogLevel;
  /** Whether `--read-only` is set, so that only functions that cannot change anything exist. */
  readonly readOnly: boolean;
  /** The environment variables that the program was started with. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The port of the embedded engine on loopback, and the token that admits other users, if one is set. */
export interface EmbeddedEngine {
  /** The port, 0 for any free one. */
  readonly port: number;
  readonly token: string | undefined;
}

/** The command that the command line names. */
export type Command =
  | {
      readonly name: "manifest" | "man" | "licenses" | "version";
      readonly worker: WorkerName;
    }
  | {
      readonly name: "completions";
      readonly worker: WorkerName;
      readonly shell: Shell;
    }
  | {
      readonly name: "help";
      readonly worker: WorkerName;
      /** The command to explain; if absent, the whole program. */
      readonly topic?: HelpTopic | undefined;
    }
  | {
      readonly name: "setup";
      readonly worker: WorkerName;
      /** The name of the client. */
      readonly client: string;
      readonly basePath: string | undefined;
      /** The folders to serve, if the command line names several. */
      readonly folders?: readonly string[];
      readonly configFile: string | undefined;
      /** The arguments of the server besides its folder. */
      readonly serverArguments: readonly string[];
      /** Whether `--print` is set, which changes nothing. */
      readonly isPrint: boolean;
      readonly isRemove: boolean;
      readonly environment: NodeJS.ProcessEnv;
    }
  | {
      readonly name: "audit-verify";
      readonly worker: WorkerName;
      /** The newest file of the audit trail. */
      readonly file: string;
    }
  | {
      readonly name: "print-schema";
      readonly worker: WorkerName;
      /** The value of `--api`: the version of the published reference to print, instead of everything. */
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
      /** The address to listen on; if absent, standard input and output are used. */
      readonly http: HttpAddress | undefined;
      /** Whether `--structured` is set: answers as JSON beside their text, and the schemas of answers. */
      readonly isStructured: boolean;
      /** The value of `--tools`, which selects the offered functions. */
      readonly tools: "usual" | "all";
      /** Whether `--review` is set, so that the page of `coder review` is served too. */
      readonly hasReview: boolean;
      /** The values of `--commands` and `--allow`. */
      readonly commands?: { readonly allow: readonly string[] } | undefined;
      /** The value of `--approval`, which wins over the configuration. */
      readonly approval?: Approval | undefined;
    })
  | (ConfigSource & {
      readonly name: "review";
      /** The port of the page on loopback, 0 for any free one. */
      readonly port: number;
      /** The token in its address; if absent, one is generated. */
      readonly token: string | undefined;
    })
  | (ConfigSource & {
      readonly name: "call";
      readonly function: string;
      /** JSON text, `-` for standard input, or `@` and a file's path. */
      readonly payload: string;
      /** The engine to call through; if absent, the call runs in this process. */
      readonly url: string | undefined;
      /** Whether `--json` is set, which prints the answer as JSON in a terminal too. */
      readonly isJson: boolean;
    });

/** A command with a help of its own. */
export interface HelpTopic {
  readonly command: "mcp" | "setup" | "call" | "undo" | "checkpoints" | "audit" | "review" | "completions";
  /** The id of the function of a call, or its end. */
  readonly function?: string | undefined;
}

type CallCommand = Extract<Command, { readonly name: "call" }>;

/** Flags that print something about the program. If several are set, the first of this list wins. */
const answers = ["version", "manifest", "man", "licenses", "print-schema"] as const;

const shells = ["bash", "zsh", "fish"] as const;
/** A shell whose completions can be printed. */
export type Shell = (typeof shells)[number];

/**
 * Returns the worker whose name the program was called by, according to `argv0`, or `coder` for any other
 * name.
 */
export const workerCalled = (argv0: string): WorkerName =>
  workerNames.find((name) => name === basename(argv0)) ?? "coder";

/**
 * Parses the arguments after the program's name (coder §2). `called` is the worker of that name. Throws a
 * `UsageError`.
 */
export function parseArguments(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  called: WorkerName = "coder",
): Command {
  const { values, words: given } = readFlags(argv, called);
  const isHelp = values.has("help") || given[0] === "help";
  const [, id = ""] = given;
  const worker = parseWorker(values.get("worker") ?? workerOf(given[0] === "call" ? id : "") ?? called);
  if (isHelp) {
    const topic = parseTopic(given[0] === "help" ? given.slice(1) : given, worker, called);
    return { name: "help", worker, topic };
  }
  const { words, folders } = expandAlias(given, worker);
  const answer = answers.find((name) => values.has(name));
  if (answer !== undefined) {
    if (answer !== "version") refuseOthers(answer, given, values);
    return answer === "print-schema"
      ? { name: answer, worker, api: values.get("api") }
      : { name: answer, worker };
  }
  const shell = values.get("completions") ?? (words[0] === "completions" ? (words[1] ?? "") : undefined);
  if (shell !== undefined) return { name: "completions", worker, shell: parseShell(shell) };
  const mode = modeOf(words);
  const line: CommandLine = { program: called, mode, words, folders, values, environment };
  refuseConflicts(line);
  if (mode === "setup") return parseSetup(line, worker);
  const source: ConfigSource = {
    worker,
    configFile: valueFor(line, "config"),
    ...parseFolders(line, given[0] ?? "", worker),
    logLevel: parseLogLevel(valueFor(line, "log-level")),
    readOnly: parseReadOnly(line),
    environment,
  };
  if (mode === "mcp")
    return {
      ...source,
      name: "mcp",
      http: parseMcp(line),
      isStructured: values.has("structured"),
      tools: parseTools(line),
      hasReview: parseReview(line, worker),
      ...parseCommands(line, worker),
      ...parseApproval(line, worker),
    };
  if (mode === "review") {
    requireCoder("review", worker);
    return { ...source, name: "review", port: parsePort(line), token: parseReviewToken(line) };
  }
  if (words[0] === "audit") return { name: "audit-verify", worker, file: parseAudit(words) };
  if (words.length > 0) return { ...source, name: "call", ...parseCall(line, worker) };
  return {
    ...source,
    name: "serve",
    url: parseUrl(valueFor(line, "url") ?? defaultUrl),
    embedded: parseEngine(line),
  };
}

/** Returns the worker that the id of a function names, if any. */
const workerOf = (id: string): WorkerName | undefined =>
  workerNames.find((name) => id.startsWith(`${name}::`));

/** Returns the topic of a help; `undefined` is everything. Throws a `UsageError` for an unknown command. */
function parseTopic(
  [command = "help", id]: readonly string[],
  worker: WorkerName,
  program: WorkerName,
): HelpTopic | undefined {
  if (command === "help") return undefined;
  if (!commandWords[worker].includes(command)) throw unknownCommand(command, { program }, worker);
  const isAlias = command === "undo" || command === "checkpoints";
  return {
    command: command as HelpTopic["command"],
    function: isAlias ? command : command === "call" ? id : undefined,
  };
}

function parseAudit([, act, file, extra]: readonly string[]): string {
  if (act !== "verify" || file === undefined)
    throw new UsageError("audit has one command: audit verify FILE, with the file that the key audit names");
  if (extra === undefined) return file;
  throw new UsageError(`audit verify takes one file; ${JSON.stringify(extra)} is one argument too many`);
}

/** The flags and words of a command line, before they are interpreted. */
interface ParsedFlags {
  /** The values by flag; empty for flags without a value. */
  readonly values: ReadonlyMap<string, string>;
  readonly words: readonly string[];
}

interface CommandLine extends ParsedFlags {
  /** The name that the program was called by, for error sentences. */
  readonly program: WorkerName;
  readonly mode: Mode;
  /** The words that name folders to serve. */
  readonly folders: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Returns the mode of a command line. A word that is not a command is refused later. */
const modeOf = ([command]: readonly string[]): Mode =>
  command === "mcp" || command === "call" || command === "setup" || command === "review" ? command : "serve";

/** Parses `--base-path`, or the words after a command, which may be several folders. */
function parseFolders(
  line: CommandLine,
  command: string,
  worker: WorkerName,
): Pick<ConfigSource, "basePath" | "folders"> {
  const basePath = valueFor(line, "base-path");
  const { folders } = line;
  const [first] = folders;
  if (first === undefined) return { basePath };
  if (basePath !== undefined)
    throw new UsageError(
      `${command}: name folders either as words, such as ${JSON.stringify(first)}, or with --base-path, not both`,
    );
  if (folders.includes("")) throw new UsageError(`${command} got an empty word in place of a folder`);
  if (folders.length === 1) return { basePath: first };
  if (worker === "coder") return { basePath, folders };
  throw new UsageError(
    `the worker shell serves one folder; ${JSON.stringify(folders[1])} is one argument too many (--commands of coder mcp is for several)`,
  );
}

/** Returns the value of the flag, or of the first of its variables that is set. */
function valueFor({ values, mode, environment }: CommandLine, name: FlagName): string | undefined {
  const value = values.get(name);
  if (value !== undefined) return value;
  const variables = flags[name].environment ?? [];
  const set = variables.find((variable) => (variable.only ?? mode) === mode && environment[variable.name]);
  return set && environment[set.name];
}

function refuseConflicts({ values, mode, program }: CommandLine): void {
  const applies = (conflict: Conflict) =>
    conflict.in.includes(mode) &&
    (conflict.with === undefined || values.has(conflict.with)) &&
    (conflict.without === undefined || !values.has(conflict.without));
  for (const name of flagNames) {
    const conflict = values.has(name) ? flags[name].conflicts?.find(applies) : undefined;
    if (conflict === undefined) continue;
    throw new UsageError(`--${name} ${conflict.why}; ${conflict.instead ?? `see ${program} --help`}`);
  }
}

/** Refuses everything that a flag which only prints something would ignore. */
function refuseOthers(flag: FlagName, words: readonly string[], values: ParsedFlags["values"]): void {
  const taken: readonly string[] = [flag, "worker", ...(flag === "print-schema" ? ["api"] : [])];
  const other = [...values.keys()].find((name) => !taken.includes(name));
  const ignored = other === undefined ? words[0] && JSON.stringify(words[0]) : `--${other}`;
  if (ignored !== undefined)
    throw new UsageError(`--${flag} prints something about the program, and does not go with ${ignored}`);
}

function parseOptions(): NonNullable<ParseArgsConfig["options"]> {
  const entries = flagNames.map((name) => {
    const { value, short } = flags[name];
    const type = value === undefined ? "boolean" : "string";
    return [name, { type, ...(short !== undefined && { short }) }] as const;
  });
  return Object.fromEntries(entries);
}

function readFlags(argv: readonly string[], program: WorkerName): ParsedFlags {
  const { tokens } = parseArgs({
    args: [...argv],
    options: parseOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const value = flagValue(token, program);
    const before = values.get(token.name) ?? value;
    if (before !== value) {
      const isFolder = token.name === "base-path" && program === "coder";
      const several = isFolder ? `, or name all folders as words, as in coder mcp ${before} ${value}` : "";
      throw new UsageError(
        `${token.rawName} is given twice, with two values; leave one of them out${several}`,
      );
    }
    values.set(token.name, value);
  }
  return { values, words };
}

interface FlagToken {
  readonly name: string;
  /** The name with its dashes, as on the command line. */
  readonly rawName: string;
  readonly value?: string | undefined;
}

function flagValue({ name, rawName, value }: FlagToken, program: WorkerName): string {
  const known = flagNames.find((candidate) => candidate === name);
  if (known === undefined) throw unknownFlag(rawName, name, program);
  if (flags[known].value === undefined) {
    if (value === undefined) return "";
    throw new UsageError(`${rawName} takes no value`);
  }
  if (value === undefined || value === "" || /^--?[a-z]/.test(value)) {
    throw new UsageError(`${rawName} needs a value; see ${program} --help`);
  }
  return value;
}

function unknownFlag(rawName: string, name: string, program: WorkerName): UsageError {
  const meant = maxSimilar(name.replaceAll("_", "-"), flagNames);
  return new UsageError(
    `${rawName} is not a flag of ${program}; ${meant === undefined ? "see" : `did you mean --${meant}? See`} ${program} --help`,
  );
}

/** The words that a command line may begin with, by worker. */
export const commandWords: Readonly<Record<WorkerName, readonly string[]>> = {
  coder: ["mcp", "setup", "call", "undo", "checkpoints", "review", "audit", "completions", "help"],
  shell: ["mcp", "call", "audit", "completions", "help"],
};

function unknownCommand(
  word: string,
  { program }: Pick<CommandLine, "program">,
  worker: WorkerName,
): UsageError {
  const meant = maxSimilar(word, commandWords[worker]);
  if (meant === undefined) return new UnknownCommand(word, worker, program);
  return new UsageError(
    `${JSON.stringify(word)} is not a command of ${program}; did you mean ${program} ${meant}? (see ${program} --help)`,
  );
}

function parseUrl(url: string): string {
  if (/^wss?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(
    `${renderFlag("url")} is ${JSON.stringify(originOf(url))}; it must look like ${defaultUrl}`,
  );
}

function parseShell(name: string): Shell {
  const known = shells.find((candidate) => candidate === name);
  if (known !== undefined) return known;
  throw new UsageError(`completions are for ${shells.join(", ")}; ${JSON.stringify(name)} is none of these`);
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
    `${renderFlag("log-level")} is ${JSON.stringify(level)}; it must be one of ${logLevels.join(", ")}`,
  );
}

/** Parses `--read-only`, or the word in its variable, which a client writes for a switch in its settings. */
function parseReadOnly(line: CommandLine): boolean {
  const value = valueFor(line, "read-only");
  if (value === undefined || value === "false") return false;
  if (value !== "" && value !== "true")
    throw new UsageError(`CODER_READ_ONLY is ${JSON.stringify(value)}; it must be true or false`);
  if (line.values.has("commands"))
    throw new UsageError("CODER_READ_ONLY does not go with --commands, as commands change files");
  return true;
}

function parseEngine(line: CommandLine): EmbeddedEngine | undefined {
  const engine = valueFor(line, "engine");
  if (engine === undefined) return undefined;
  const [, port = new URL(defaultUrl).port] = /^embedded(?::(\d{1,5}))?$/.exec(engine) ?? [undefined, ""];
  if (port === "" || Number(port) > 65_535) {
    throw new UsageError(
      `--engine is ${JSON.stringify(engine)}; it must be embedded or embedded:PORT (0 for any free port)`,
    );
  }
  return { port: Number(port), token: parseToken(line) };
}

function parseMcp(line: CommandLine): HttpAddress | undefined {
  const address = valueFor(line, "http");
  if (address === undefined) return undefined;
  const needsToken = !line.values.has("no-token");
  return { ...parseHttpAddress(address, needsToken ? parseToken(line) : undefined), needsToken };
}

/** The flags of `setup` that the entry of a client passes to `mcp`. Paths in them become absolute. */
const serverFlags = [
  "config",
  "read-only",
  "structured",
  "tools",
  "commands",
  "allow",
  "approval",
  "review",
  "log-level",
] as const;

function parseSetup(line: CommandLine, worker: WorkerName): Extract<Command, { name: "setup" }> {
  const { words, values, environment } = line;
  const [, client, ...folders] = words;
  if (worker !== "coder") throw unknownCommand("setup", line, worker);
  if (client === undefined)
    throw new UsageError("setup needs the name of a client, such as claude-code; see coder help setup");
  parseTools(line);
  parseCommands(line, worker);
  parseApproval(line, worker);
  if (values.has("log-level")) parseLogLevel(values.get("log-level"));
  return {
    name: "setup",
    worker,
    client,
    ...parseFolders({ ...line, folders }, "setup", worker),
    configFile: values.get("config"),
    serverArguments: serverFlags.flatMap((name) => {
      const value = values.get(name);
      if (value === undefined) return [];
      if (flags[name].value === undefined) return [`--${name}`];
      return [`--${name}`, name === "config" ? resolve(value) : value];
    }),
    isPrint: values.has("print"),
    isRemove: values.has("remove"),
    environment,
  };
}

function parsePort({ values }: CommandLine): number {
  const given = values.get("port") ?? "0";
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new UsageError(`--port is ${JSON.stringify(given)}; it must be a port, or 0 for any free one`);
}

function parseReview({ values }: CommandLine, worker: WorkerName): boolean {
  if (values.has("review")) requireCoder("--review", worker);
  return values.has("review");
}

/** Throws a `UsageError` unless the worker has a journal to show. */
function requireCoder(given: string, worker: WorkerName): void {
  if (worker !== "coder")
    throw new UsageError(
      `${given} is for the worker coder; the worker shell keeps no checkpoints of its own`,
    );
}

function parseTools({ values }: CommandLine): "usual" | "all" {
  const tools = values.get("tools");
  if (tools === undefined || tools === "all") return tools ?? "usual";
  throw new UsageError(`--tools is ${JSON.stringify(tools)}; it must be all, or left out`);
}

function parseCommands({ values }: CommandLine, worker: WorkerName) {
  if (!values.has("commands")) return {};
  if (worker !== "coder")
    throw new UsageError("--commands is for the worker coder; the worker shell has commands without it");
  const allow = values.get("allow")?.split(",") ?? [];
  const wrong = allow.find((name) => name.trim() !== name || name === "");
  if (wrong !== undefined)
    throw new UsageError(
      `--allow holds ${JSON.stringify(wrong)}; give names of programs with commas between them, such as node,npm,git`,
    );
  return { commands: { allow } };
}

const approvals = ["none", "destructive", "all"] as const;
type Approval = (typeof approvals)[number];

function parseApproval({ values }: CommandLine, worker: WorkerName) {
  const value = values.get("approval");
  if (value === undefined) return {};
  if (worker !== "coder") throw new UsageError("--approval is for the worker coder");
  const approval = approvals.find((one) => one === value);
  if (approval === undefined)
    throw new UsageError(`--approval is ${JSON.stringify(value)}; it must be ${approvals.join(", ")}`);
  return { approval };
}

/** Minimum characters of a token. A shorter one can be guessed. */
const minTokenCharacters = 16;

function parseToken(line: CommandLine): string | undefined {
  const token = valueFor(line, "token");
  if (token !== undefined && token.length < minTokenCharacters)
    throw new UsageError(`${renderFlag("token")} needs at least ${minTokenCharacters} characters`);
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new UsageError(
      `${renderFlag("token")} has a blank or a character that no header can carry; use letters, digits and signs of ASCII, such as the output of openssl rand -hex 32`,
    );
  return token;
}

/** Returns the token of the page, which its address and a cookie carry. */
function parseReviewToken(line: CommandLine): string | undefined {
  const token = parseToken(line);
  if (token === undefined || /^[\w-]+$/.test(token)) return token;
  throw new UsageError(`${renderFlag("token")} goes into an address: letters, digits, _ and - only`);
}

/** An example function, for the error of a call without one. */
const sample: Readonly<Record<WorkerName, string>> = { coder: "coder::read-file", shell: "shell::exec" };

type CallWords = Pick<CallCommand, "function" | "payload" | "url" | "isJson">;

function parseCall(line: CommandLine, worker: WorkerName): CallWords {
  const { program, words, values } = line;
  const [command, id, payload = "{}", extra] = words;
  if (command !== "call") throw unknownCommand(command ?? "", line, worker);
  if (id === undefined)
    throw new UsageError(
      `call needs the name of a function, such as ${sample[worker]}; see ${program} --help`,
    );
  if (extra !== undefined) throw tooManyWords("call", extra);
  const url = callUrl(line);
  return {
    function: fullId(id, worker),
    payload,
    url: url === undefined ? undefined : parseUrl(url),
    isJson: values.has("json"),
  };
}

/** Returns the id of a function whose worker may be left out: `tree`, or `fs::ls` of the shell worker. */
const fullId = (id: string, worker: WorkerName): string =>
  !id.includes("::") || (worker === "shell" && id.startsWith("fs::")) ? `${worker}::${id}` : id;

/**
 * Returns the engine to call through, or `undefined` for a call in this process. `--base-path` and `--config`
 * name the folder, so an address in the environment does not apply to them.
 */
function callUrl(line: CommandLine): string | undefined {
  const { values, folders } = line;
  if (folders.length > 0 && values.has("url"))
    throw new UsageError(
      "folders do not go with --url, as the worker behind an engine has its own; leave --url out to read the journal of these folders in this process",
    );
  if (values.has("base-path") || values.has("config") || folders.length > 0) return undefined;
  const url = valueFor(line, "url");
  if (url !== undefined && values.has("read-only"))
    throw new UsageError(
      "--read-only does not go with III_URL, as the worker behind an engine has its own rules; add --base-path DIR to run the function in this process, or leave --read-only out",
    );
  return url;
}
