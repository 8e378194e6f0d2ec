/**
 * The table of flags. Parsing, defaults from the environment, the refusal of conflicting flags and `--help`
 * derive from it.
 */
import { defaultUrl } from "../../base/about.ts";
import type { Mode } from "../source.ts";

/** An environment variable with the default of a flag. The first one that is set wins. */
interface Variable {
  readonly name: string;
  /** The mode that it is limited to, if any. */
  readonly only?: Mode;
}

/** A case in which a flag is refused: one of these modes, with or without another flag. */
export interface Conflict {
  readonly in: readonly Mode[];
  readonly with?: string;
  readonly without?: string;
  readonly why: string;
  /** The next call that works; if absent, `--help`. */
  readonly instead?: string;
}

interface Flag {
  /** The placeholder of its value in the help, or its only value; absent for a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly environment?: readonly Variable[];
  readonly conflicts?: readonly Conflict[];
  /** The lines of its help. */
  readonly help: string | ((words: { readonly basePathKey: string }) => string);
}

/**
 * The conflict with a call through an engine, which acts on the folder of a running worker: nothing here can
 * choose or restrict it.
 */
const beforeEngine: Conflict = {
  in: ["call"],
  with: "url",
  why: "does not go with --url, as the worker behind an engine has its own folder and rules",
  instead: "leave --url out to run the function in this process, or this flag to call through the engine",
};

const table = {
  config: {
    value: "FILE",
    conflicts: [beforeEngine],
    help: `configuration (YAML); default, only on a bus: $III_CONFIG, the worker's block in the
configuration of the iii engine, ./config.yaml; else the defaults`,
  },
  "base-path": {
    value: "DIR",
    conflicts: [beforeEngine],
    help: ({ basePathKey }) => `the folder to serve; wins over ${basePathKey} of the configuration`,
  },
  url: {
    value: "URL",
    environment: [{ name: "III_URL" }, { name: "III_ENGINE_URL", only: "serve" }],
    conflicts: [
      { in: ["mcp"], why: "does not go with mcp, which needs no engine" },
      { in: ["setup"], why: "does not go with setup, as a server over MCP needs no engine" },
      { in: ["review"], why: "does not go with review, which needs no engine" },
      {
        in: ["serve"],
        with: "engine",
        why: "does not go with --engine, which starts an engine with an address of its own",
      },
    ],
    help: `the engine's address; default $III_URL, $III_ENGINE_URL, ${defaultUrl}`,
  },
  engine: {
    value: "embedded",
    conflicts: [
      { in: ["mcp"], why: "does not go with mcp, which needs no engine" },
      { in: ["setup"], why: "does not go with setup, as a server over MCP needs no engine" },
      { in: ["review"], why: "does not go with review, which needs no engine" },
      { in: ["call"], why: "does not go with call", instead: "give --url to call through an engine" },
    ],
    help: `start an engine for trying out and testing; :0 takes any free port. Only programs of your own
user can connect, and with --token who has the address ws://127.0.0.1:PORT/TOKEN`,
  },
  "read-only": {
    environment: [{ name: "CODER_READ_ONLY", only: "mcp" }],
    conflicts: [beforeEngine],
    help: `offer only the functions that cannot change anything; with mcp also if $CODER_READ_ONLY is true`,
  },
  http: {
    value: "[HOST:]PORT",
    conflicts: [
      { in: ["serve", "call", "review"], why: "only goes with mcp" },
      { in: ["setup"], why: "does not go with setup, as a client starts its own server" },
    ],
    help: "with mcp: streamable HTTP at /mcp; HOST defaults to 127.0.0.1",
  },
  token: {
    value: "TOKEN",
    environment: [{ name: "CODER_TOKEN" }],
    conflicts: [
      { in: ["mcp"], without: "http", why: "only goes with --http" },
      {
        in: ["serve", "call", "setup"],
        without: "engine",
        why: "only goes with --http, --engine embedded or review",
      },
    ],
    help: `with --http: the bearer token of every request; default $CODER_TOKEN, else one is made and
printed with the configuration of a client; off loopback one must be given.
With --engine embedded: what lets others in; default $CODER_TOKEN.
With review: the token in the address of the page; default $CODER_TOKEN, else one is made`,
  },
  port: {
    value: "PORT",
    conflicts: [{ in: ["serve", "mcp", "call", "setup"], why: "only goes with review" }],
    help: "with review: the port on 127.0.0.1; default any free one",
  },
  review: {
    conflicts: [
      {
        in: ["serve", "call"],
        why: "only goes with mcp",
        instead: "set the key review of the configuration",
      },
      { in: ["review"], why: "does not go with review, which serves the page already" },
    ],
    help: "with mcp: serve the page of coder review too, and log its address",
  },
  json: {
    conflicts: [{ in: ["serve", "mcp", "review", "setup"], why: "only goes with call" }],
    help: "with call: print JSON in a terminal too",
  },
  structured: {
    conflicts: [{ in: ["serve", "call", "review"], why: "only goes with mcp" }],
    help: "with mcp: answers as JSON too, and the schemas of answers, for clients that compute with them",
  },
  tools: {
    value: "all",
    conflicts: [{ in: ["serve", "call", "review"], why: "only goes with mcp" }],
    help: "with mcp: offer every tool, also those that are rarely needed",
  },
  commands: {
    conflicts: [
      { in: ["serve", "call", "review"], why: "only goes with mcp" },
      {
        in: ["mcp", "setup"],
        with: "read-only",
        why: "does not go with --read-only, as commands change files",
      },
    ],
    help: `with mcp: offer shell_exec and its like too, for commands in the served folder; the key commands of the
configuration says which programs may run, and within which limits`,
  },
  allow: {
    value: "NAME,…",
    conflicts: [
      { in: ["serve", "call", "review"], why: "only goes with mcp" },
      { in: ["mcp", "setup"], without: "commands", why: "only goes with --commands" },
    ],
    help: "with --commands: programs that may run besides those of the configuration, such as node,npm,git",
  },
  approval: {
    value: "WHICH",
    conflicts: [
      {
        in: ["serve", "call"],
        why: "only goes with mcp",
        instead: "set the key approval of the configuration",
      },
      { in: ["review"], why: "does not go with review, whose undo is a person's own" },
    ],
    help: `with mcp: the calls that wait until you approve them: none, destructive (those that delete, replace
a file, undo, or run a command) or all that change something; wins over the configuration`,
  },
  "no-token": {
    conflicts: [
      { in: ["serve", "call", "review", "setup"], why: "only goes with mcp" },
      { in: ["mcp"], without: "http", why: "only goes with --http" },
      { in: ["mcp"], with: "token", why: "does not go with --token" },
    ],
    help: "with --http: serve every user of this machine",
  },
  print: {
    conflicts: [
      { in: ["serve", "mcp", "call", "review"], why: "only goes with setup" },
      { in: ["setup"], with: "remove", why: "does not go with --remove" },
    ],
    help: "with setup: print the entry and the path of the client's file, and change nothing",
  },
  remove: {
    conflicts: [{ in: ["serve", "mcp", "call", "review"], why: "only goes with setup" }],
    help: "with setup: remove the entry again",
  },
  worker: {
    value: "NAME",
    help: "be the worker coder or shell; default what the program is called as, else coder",
  },
  "log-level": {
    value: "LEVEL",
    environment: [{ name: "CODER_LOG" }],
    help: "error, warn, info or debug, on stderr; default $CODER_LOG, else info; of a call error, but of coder::info warn",
  },
  "print-schema": { help: "print the API reference as JSON" },
  api: {
    value: "VERSION",
    conflicts: [
      {
        in: ["serve", "mcp", "call", "review", "setup"],
        without: "print-schema",
        why: "only goes with --print-schema",
      },
    ],
    help: "with --print-schema: the published reference of that version, and nothing that came later",
  },
  manifest: { help: "print the registry manifest as JSON" },
  completions: {
    value: "SHELL",
    help: "print the script with which bash, zsh or fish completes the command line",
  },
  man: { help: "print the manual page" },
  licenses: { help: "print whose software is in this program, and under which licences" },
  version: { short: "v", help: "print the version" },
  help: { short: "h", help: "print this, or with a command or call FUNCTION the help of that" },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof table;

/** The flags in the order of the help. */
export const flags: Readonly<Record<FlagName, Flag>> = table;

export const flagNames = Object.keys(flags) as readonly FlagName[];

/** Returns the flag, with the variable that sets its default, for error sentences. */
export function renderFlag(name: FlagName): string {
  const variable = flags[name].environment?.[0];
  return variable === undefined ? `--${name}` : `--${name} (or ${variable.name})`;
}
