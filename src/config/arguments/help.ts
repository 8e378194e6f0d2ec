import { about, defaultUrl, descriptions, type WorkerName } from "../../base/about.ts";
import type { Mode } from "../source.ts";
import type { HelpTopic } from "./arguments.ts";
import { type FlagName, flagNames, flags } from "./flags.ts";

/** Renders the help of a worker, or of one of its commands. */
export function renderHelp(worker: WorkerName, command?: HelpTopic["command"]): string {
  if (command !== undefined) return commandHelp[command](worker);
  const { program, basePathKey, examples } = words[worker];
  return `${worker} ${about.version} - ${descriptions[worker]}

Usage
  ${program} [--config FILE] [--url URL]          connect to an iii engine and serve
  ${program} --engine embedded[:PORT]             serve on an engine of its own, loopback only
  ${program} mcp [--http [HOST:]PORT]             serve the same functions as MCP tools, over stdio or HTTP
${worker === "coder" ? setup : ""}  ${program} call FUNCTION [JSON | - | @FILE]     call one function and print its answer
${worker === "coder" ? aliases : ""}  ${program} audit verify FILE                    check that no line of an audit trail was changed or removed
  ${program} help COMMAND                         the flags of a command; help call FUNCTION for the fields of a function
  ${program} completions bash | zsh | fish        the completions of a shell
  ${program} --print-schema | --manifest | --man | --licenses | --version | --help

Flags
${flagNames.map((name) => renderFlagHelp(name, basePathKey)).join("")}
Call
  With --base-path or --config the function runs in this process, on that folder. Without them, --url or $III_URL
  sends the call through the engine; without these too, it runs in this process, on the current folder.
  The payload is JSON on the command line, - for standard input, or @FILE; without one it is {}.
  In a terminal the answer is printed as text, otherwise and with --json as JSON. An error goes to stderr.
  "${program} call FUNCTION --help" prints the fields of a function, with examples.

${exitStatuses}
Examples
${examples.map((example) => `  ${example}\n`).join("")}`;
}

/** The exit statuses of all commands; docs/reference and the tests repeat them. */
const exitStatuses = `Exit status
  0  everything was done
  1  the call failed, or the worker could not start; nothing was done unless the error says otherwise
  2  the command line is wrong, or the payload is not JSON
  3  the answer reports a failure: an entry of a batch failed, an undo met a conflict, or a line of an audit
     trail is not genuine
  4  the command that shell::exec ran failed, was ended, or timed out
  70 a worker ended itself because its event loop stood still, or could not end its calls at a stop
  129, 130, 143  SIGHUP, SIGINT or SIGTERM stopped the call; the error says what was done
`;

const commandHelp: Readonly<Record<HelpTopic["command"], (worker: WorkerName) => string>> = {
  mcp: (worker) => `${words[worker].program} mcp - serve the functions as MCP tools

Usage
  ${words[worker].program} mcp [--base-path DIR] [FLAGS]                over standard input and output
  ${words[worker].program} mcp [--base-path DIR] --http [HOST:]PORT     over HTTP
${worker === "coder" ? "  coder mcp DIR DIR … [FLAGS]                        several folders, as entries of one\n" : ""}
Flags
${flagsOf("mcp", worker)}
Examples
  ${words[worker].program} mcp --base-path .
  claude mcp add coder -- coder mcp --base-path "$PWD"
`,
  setup: (worker) => `coder setup - add the MCP server to a client

Usage
  coder setup CLIENT [--base-path DIR] [FLAGS]     add or change the entry of this server
  coder setup CLIENT DIR DIR … [FLAGS]             several folders; a file in the folder is in the first
  coder setup CLIENT --print                       print the entry, and change nothing
  coder setup CLIENT --remove                      remove the entry

  CLIENT is claude-code, claude-desktop, cursor, vscode, codex, gemini, zed or windsurf. Without --base-path the
  current folder is served. Comments and other settings in the client's file stay; a copy of the file before the
  change has the suffix .coder-backup. Flags of mcp, such as --read-only or --commands --allow node,npm, become
  part of the entry.

Flags
${flagsOf("setup", worker)}
Examples
  coder setup claude-code
  coder setup codex --base-path ~/project --read-only
`,
  call: (worker) => `${words[worker].program} call - call one function and print its answer

Usage
  ${words[worker].program} call FUNCTION [JSON | - | @FILE]
  ${words[worker].program} call FUNCTION --help

Flags
${flagsOf("call", worker)}
${exitStatuses}`,
  undo: (worker) => `coder undo - take back the newest change, or a checkpoint

Usage
  coder undo [SEQ | JSON | - | @FILE]
  coder undo DIR DIR … [SEQ | JSON | - | @FILE]      the folders of a server of several

  SEQ is the number of a checkpoint, as coder checkpoints lists it. JSON has the fields below. Without either, the
  newest change is taken back; in the profile agent, your own newest. With --url each command line is another
  caller, so a worker in that profile needs SEQ. Each set of folders has a journal of its own.

Flags
${flagsOf("call", worker)}
Examples
  coder undo --base-path .
  coder undo 12 --base-path .
  coder undo ../app ../lib 12
  coder undo '{"paths":["src"],"dry_run":true}' --base-path .

${exitStatuses}`,
  checkpoints: (worker) => `coder checkpoints - list what calls changed, newest first

Usage
  coder checkpoints [PATH | JSON | - | @FILE]
  coder checkpoints DIR DIR … [JSON | - | @FILE]     the folders of a server of several

  With PATH, only what changed that file or folder. JSON has the fields below. Each set of folders has a journal of
  its own: if another one has changes of these folders, its command line is written to stderr.

Flags
${flagsOf("call", worker)}
Examples
  coder checkpoints --base-path .
  coder checkpoints src --base-path .
  coder checkpoints ../app ../lib
  coder checkpoints '{"limit":3,"answer":"diff"}' --base-path .

${exitStatuses}`,
  completions: (worker) => `${words[worker].program} completions - print the completions of a shell

Usage
  ${words[worker].program} completions bash | zsh | fish

Examples
  eval "$(${words[worker].program} completions bash)"                               in ~/.bashrc
  eval "$(${words[worker].program} completions zsh)"                                in ~/.zshrc, after compinit
  ${words[worker].program} completions fish > ~/.config/fish/completions/${words[worker].program}.fish
`,
  review: (
    worker,
  ) => `${words[worker].program} review - serve a page that shows what agents changed, and takes it back

Usage
  ${words[worker].program} review [--base-path DIR] [--port PORT] [FLAGS]
  ${words[worker].program} review DIR DIR … [--port PORT] [FLAGS]

  It listens on 127.0.0.1 only and prints its address. The token in that admits everyone who has it, so keep it to
  yourself.

Flags
${flagsOf("review", worker)}
Examples
  ${words[worker].program} review --base-path .
`,
  audit: (worker) => `${words[worker].program} audit verify - check an audit trail

Usage
  ${words[worker].program} audit verify FILE

  FILE is the one that the key audit of the configuration names. Older files beside it (FILE.1, FILE.2, …) are
  checked with it. Each line names the hash of the line before, so that a changed, removed or inserted line
  shows. So does a file that is missing between others.

${exitStatuses}`,
};

/** Renders the flags that a command accepts, without those that print something about the program. */
const flagsOf = (mode: Mode, worker: WorkerName): string =>
  flagNames
    .filter((name) => !ofTheProgram.includes(name) && !isRefusedIn(name, mode))
    .map((name) => renderFlagHelp(name, words[worker].basePathKey))
    .join("");

const ofTheProgram: readonly string[] = [
  "print-schema",
  "api",
  "manifest",
  "completions",
  "man",
  "licenses",
  "version",
];

/** Returns whether a command refuses the flag, whatever else is on the command line. */
export const isRefusedIn = (name: FlagName, mode: Mode): boolean =>
  flags[name].conflicts?.some(
    (conflict) =>
      conflict.in.includes(mode) &&
      conflict.with === undefined &&
      (conflict.without === undefined || isRefusedIn(conflict.without as FlagName, mode)),
  ) ?? false;

const setup = `  coder setup CLIENT [--remove]              add the MCP server to Claude Code, Cursor, VS Code, Codex or another client
`;

const aliases = `  coder checkpoints [PATH | JSON]            what calls changed; short for call coder::checkpoints
  coder undo [SEQ | JSON]                    take back the newest change, or a checkpoint; short for call coder::undo
  coder review [--port PORT]                 serve a page that shows what agents changed, and takes it back
`;

/** The column of the descriptions. */
const column = 23;

function renderFlagHelp(name: FlagName, basePathKey: string): string {
  const { short, value, help } = flags[name];
  const label = `  ${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
  const text = typeof help === "string" ? help : help({ basePathKey });
  return `${label.padEnd(column)}${text.replaceAll("\n", `\n${" ".repeat(column)}`)}\n`;
}

const words = {
  coder: {
    program: "coder",
    basePathKey: "base_path",
    examples: [
      "coder --engine embedded --base-path .",
      "coder mcp --base-path . --read-only",
      `coder call coder::tree '{"max_depth":2}' --base-path .`,
      `coder call coder::search '{"query":"TODO"}' --url ${defaultUrl}`,
    ],
  },
  shell: {
    program: "shell",
    basePathKey: "fs.host_root",
    examples: [
      "shell --config shell.yaml",
      "coder --worker shell --engine embedded --base-path .",
      `shell call shell::exec '{"command":"ls","args":["-l"]}' --config shell.yaml`,
      `shell call shell::fs::ls '{"path":"/srv/project"}' --base-path /srv/project`,
    ],
  },
} as const satisfies Readonly<Record<WorkerName, unknown>>;
