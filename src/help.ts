import { about, defaultUrl, descriptions, type WorkerName } from "./about.ts";

/** What `--help` prints about a worker. */
export function renderHelp(worker: WorkerName): string {
  const { program, flags, examples } = words[worker];
  return `${worker} ${about.version} - ${descriptions[worker]}

Usage
  ${program} [--config FILE] [--url URL]          connect to an iii engine and serve
  ${program} --engine embedded[:PORT]             serve on an engine of its own, loopback only
  ${program} mcp [--http [HOST:]PORT]             serve the same functions as MCP tools, over stdio or HTTP
  ${program} call FUNCTION [JSON | - | @FILE]     call one function and print its answer
  ${program} --print-schema | --manifest | --licenses | --version | --help

Flags
  --config FILE        configuration (YAML); default, when serving: $III_CONFIG, the worker's block in the
                       configuration of the iii engine, ./config.yaml, the defaults
  --base-path DIR      the folder to serve; wins over ${flags.basePath} of the configuration
  --url URL            the engine's address; default $III_URL, $III_ENGINE_URL, ${defaultUrl}
  --engine embedded    start an engine for trying out and testing; :0 takes any free port. Only programs of your own
                       user can connect, and with --token who has the address ws://127.0.0.1:PORT/TOKEN
  --read-only          offer only the functions that cannot change anything
  --http [HOST:]PORT   with mcp: streamable HTTP at /mcp; HOST defaults to 127.0.0.1
  --token TOKEN        with --http: the bearer token of every request; default $CODER_TOKEN, else one is made and
                       printed with the configuration of a client; off loopback one must be given.
                       With --engine embedded: what lets others in; default $CODER_TOKEN
  --no-token           with --http: serve every user of this machine
  --worker NAME        be the worker coder or shell; default what the program is called as, else coder
  --log-level LEVEL    error, warn, info or debug, on stderr; default $CODER_LOG, else info
  --print-schema       print the API reference as JSON
  --api VERSION        with --print-schema: the published reference of that version, and nothing that came later
  --manifest           print the registry manifest as JSON
  --licenses           print whose software is in this program, and under which licences
  -v, --version        print the version
  -h, --help           print this

Call
  With --url or $III_URL the call goes through the engine, otherwise the function runs in this process.
  The payload is JSON on the command line, - for standard input, or @FILE; without one it is {}.
  The answer is printed as JSON. An error goes to stderr, and the exit status is 1; 2 means a wrong command line.

Examples
${examples.map((example) => `  ${example}\n`).join("")}`;
}

const words = {
  coder: {
    program: "coder",
    flags: { basePath: "base_path" },
    examples: [
      "coder --engine embedded --base-path .",
      "coder mcp --base-path . --read-only",
      `coder call coder::tree '{"max_depth":2}' --base-path .`,
      `coder call coder::search '{"query":"TODO"}' --url ${defaultUrl}`,
    ],
  },
  shell: {
    program: "shell",
    flags: { basePath: "fs.host_root" },
    examples: [
      "shell --config shell.yaml",
      "coder --worker shell --engine embedded --base-path .",
      `shell call shell::exec '{"command":"ls","args":["-l"]}' --config shell.yaml`,
      `shell call shell::fs::ls '{"path":"/srv/project"}' --base-path /srv/project`,
    ],
  },
} as const satisfies Readonly<Record<WorkerName, unknown>>;
