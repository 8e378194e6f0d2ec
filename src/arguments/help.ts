import { about, defaultUrl, descriptions, type WorkerName } from "../about.ts";
import { type FlagName, flagNames, flags } from "./flags.ts";

/** Renders the help of a worker. */
export function renderHelp(worker: WorkerName): string {
  const { program, basePathKey, examples } = words[worker];
  return `${worker} ${about.version} - ${descriptions[worker]}

Usage
  ${program} [--config FILE] [--url URL]          connect to an iii engine and serve
  ${program} --engine embedded[:PORT]             serve on an engine of its own, loopback only
  ${program} mcp [--http [HOST:]PORT]             serve the same functions as MCP tools, over stdio or HTTP
  ${program} call FUNCTION [JSON | - | @FILE]     call one function and print its answer
${worker === "coder" ? aliases : ""}  ${program} --print-schema | --manifest | --licenses | --version | --help

Flags
${flagNames.map((name) => renderFlagHelp(name, basePathKey)).join("")}
Call
  With --base-path or --config the function runs in this process, on that folder. Without them, --url or $III_URL
  sends the call through the engine.
  The payload is JSON on the command line, - for standard input, or @FILE; without one it is {}.
  In a terminal the answer is printed as text, otherwise and with --json as JSON. An error goes to stderr, and the
  exit status is 1; 2 means a wrong command line.

Examples
${examples.map((example) => `  ${example}\n`).join("")}`;
}

const aliases = `  coder checkpoints [PATH | JSON]            what calls changed; short for call coder::checkpoints
  coder undo [SEQ | JSON]                    take back the newest change, or a checkpoint; short for call coder::undo
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
