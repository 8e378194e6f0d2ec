/** The plan of the house: which part of src may use which. `npm run rooms` compares it with the sources. */
export interface Plan {
  /**
   * Each room, and the rooms it may import from. A room is a folder or a file below src, named without `.ts`; a file
   * belongs to the room with the longest name that fits. Arrows go down only: a cycle is an error.
   */
  readonly rooms: Readonly<Record<string, readonly string[]>>;
  /** Each package, and the rooms or files that may import it. One file, as a rule: then it can be replaced. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** Modules of the platform that reach beyond the process, and who may. Types of them may be named anywhere. */
  readonly guarded: Readonly<Record<string, readonly string[]>>;
  /** Files that may use what only Bun has. */
  readonly onlyOnBun: readonly string[];
  /** Files that may spell out codes of the wire, such as "C210". */
  readonly nameCodes: readonly string[];
  /** Files of src that tests/ may import: it sees the worker from outside. */
  readonly openToTests: readonly string[];
}

const disk = ["call", "config-file", "config-source", "files", "jail", "regex/engine", "shell/workshop"];

export const plan: Plan = {
  rooms: {
    main: ["about", "arguments", "call", "help", "mcp", "reference", "run", "workers"],
    call: ["about", "arguments", "lifetime", "worker", "worker/log", "workers"],
    run: ["arguments", "engine", "lifetime", "worker", "worker/log", "workers"],
    mcp: [
      "about",
      "arguments",
      "codes",
      "coder",
      "errors",
      "lifetime",
      "reference",
      "worker",
      "worker/define",
      "worker/json-size",
      "worker/log",
      "workers",
    ],
    workers: [
      "about",
      "arguments",
      "codes",
      "config",
      "config-source",
      "functions",
      "shell",
      "worker/define",
      "worker/log",
      "workshop",
    ],
    lifetime: ["worker/define", "worker/lines", "worker/log"],
    workshop: [
      "arguments",
      "codes",
      "coder",
      "config",
      "config-file",
      "files",
      "globs",
      "jail",
      "regex",
      "search",
      "worker/define",
      "worker/log",
    ],
    arguments: ["about", "worker/log"],
    help: ["about"],
    about: [],

    functions: ["coder", "worker/define"],
    coder: [
      "config",
      "deadline",
      "edits",
      "errors",
      "files",
      "globs",
      "jail",
      "regex",
      "search",
      "wire",
      "worker/define",
      "worker/json-size",
    ],
    shell: [
      "codes",
      "config-file",
      "deadline",
      "edits",
      "errors",
      "files",
      "globs",
      "jail",
      "processes",
      "regex",
      "search",
      "wire",
      "worker/define",
      "worker/json-size",
      "worker/log",
      "worker/validate",
    ],
    worker: [
      "bun",
      "deadline",
      "errors",
      "reference",
      "wire",
      "worker/define",
      "worker/json-size",
      "worker/log",
      "worker/validate",
    ],
    reference: ["about", "codes", "config", "wire", "worker/define", "worker/validate"],
    "worker/define": ["config-source", "deadline", "worker/log"],
    "worker/json-size": ["text"],
    "worker/lines": [],
    "worker/log": ["quote"],
    "config-source": ["config-file", "engine-config", "worker/log"],
    "engine-config": ["config-file"],
    config: ["config-file", "worker/validate"],
    "config-file": ["worker/validate"],
    "worker/validate": [],

    search: ["deadline", "errors", "files", "globs", "jail", "regex", "threads", "wasm", "worker/json-size"],
    files: ["deadline", "errors", "jail"],
    jail: ["bun", "errors", "globs"],
    regex: ["deadline", "errors", "threads", "wasm"],
    threads: [],
    edits: ["errors", "text", "worker/json-size"],
    text: ["wasm"],
    wasm: ["bun"],
    processes: ["bun", "errors"],
    globs: [],
    engine: [],
    deadline: ["errors"],
    bun: [],
    codes: ["errors"],
    errors: [],
    wire: ["quote"],
    quote: [],
  },
  packages: {
    "@modelcontextprotocol/server": ["mcp"],
    "@sinclair/typebox": ["coder", "config", "config-file", "mcp", "reference", "shell", "wire", "worker"],
    execa: ["processes/start"],
    "iii-sdk": ["worker/bus"],
    rregex: ["regex/engine"],
    ws: ["engine"],
    yaml: ["config-file"],
  },
  guarded: {
    "node:fs": [
      ...disk,
      "engine/peer",
      "processes/output",
      "processes/pipe",
      "processes/process-table",
      "processes/program",
      "processes/start",
    ],
    "node:fs/promises": disk,
    "node:net": ["call", "engine"],
    "node:http": ["engine", "mcp"],
    "node:https": [],
    "node:child_process": [],
    "node:worker_threads": ["threads"],
  },
  onlyOnBun: ["bun"],
  nameCodes: ["codes"],
  openToTests: [
    "config-source",
    "deadline",
    "engine/engine",
    "functions",
    "worker/define",
    "worker/invoke",
    "worker/log",
    "workers",
    "workshop",
  ],
};
