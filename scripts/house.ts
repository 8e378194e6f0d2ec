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
  /** Files that may touch `process.env`. Others are given what they need of it. */
  readonly readEnvironment: readonly string[];
  /** Files that may spell out codes of the wire, such as "C210". */
  readonly nameCodes: readonly string[];
  /** Files that may change files: `files/mutate` and its parts, and what writes nothing into the tree. */
  readonly changeFiles: readonly string[];
  /** Files of src that tests/ may import: it sees the worker from outside. */
  readonly openToTests: readonly string[];
}

export const plan: Plan = {
  rooms: {
    main: ["about", "arguments", "call", "licenses", "mcp", "reference", "run", "workers"],
    call: ["about", "arguments", "config", "contract", "log", "process", "worker", "workers"],
    run: ["arguments", "config", "engine", "log", "process", "watchdog", "worker", "workers"],
    mcp: [
      "about",
      "arguments",
      "coder",
      "config",
      "contract",
      "log",
      "process",
      "schema",
      "text",
      "watchdog",
      "worker",
      "workers",
    ],
    workers: ["about", "arguments", "coder", "config", "contract", "log", "shell"],
    process: ["contract", "log"],
    coder: [
      "about",
      "audit",
      "config",
      "contract",
      "edits",
      "errors",
      "files",
      "globs",
      "ignore",
      "jail",
      "journal",
      "log",
      "patch",
      "quotas",
      "regex",
      "scheduling",
      "schema",
      "search",
      "text",
      "transactions",
    ],
    arguments: ["about", "config", "log"],
    licenses: [],
    about: [],

    shell: [
      "config",
      "contract",
      "errors",
      "files",
      "globs",
      "jail",
      "journal",
      "log",
      "os-sandbox",
      "processes",
      "regex",
      "scheduling",
      "schema",
      "search",
      "state",
      "text",
      "transactions",
    ],
    worker: ["bun", "contract", "errors", "log", "scheduling", "schema", "text"],
    reference: ["about", "contract", "schema"],
    contract: ["config", "log", "scheduling"],
    text: ["wasm"],
    log: [],
    config: ["log", "schema"],
    schema: [],

    prefilter: ["regex", "wasm"],
    search: [
      "files",
      "globs",
      "ignore",
      "jail",
      "prefilter",
      "regex",
      "scheduling",
      "text",
      "threads",
      "wasm",
    ],
    ignore: ["files", "globs", "jail"],
    transactions: ["config", "errors", "files", "jail", "log", "scheduling", "state"],
    files: ["errors", "jail", "scheduling"],
    jail: ["bun", "errors", "globs", "scheduling"],
    regex: ["errors", "scheduling", "threads", "wasm"],
    threads: [],
    watchdog: ["bun", "threads"],
    patch: ["edits", "errors", "scheduling"],
    edits: ["errors", "scheduling", "text"],
    state: ["config"],
    journal: ["config", "errors", "files", "jail", "log", "state"],
    quotas: ["errors"],
    audit: ["config", "contract", "files", "jail", "log"],
    wasm: ["bun"],
    watch: ["bun", "jail", "scheduling"],
    "os-sandbox": ["bun"],
    processes: ["bun", "scheduling"],
    globs: [],
    engine: [],
    scheduling: ["errors"],
    bun: [],
    errors: ["refusal"],
    refusal: [],
  },
  packages: {
    "@modelcontextprotocol/server": ["mcp"],
    "@sinclair/typebox": [
      "contract",
      "coder",
      "config/file",
      "audit/audit-config",
      "quotas/quotas-config",
      "journal/journal-config",
      "mcp",
      "reference",
      "shell",
      "schema",
    ],
    execa: ["processes/start"],
    "iii-sdk": ["worker/bus"],
    rregex: ["regex/engine"],
    ws: ["engine"],
    yaml: ["config/file"],
  },
  guarded: {
    "node:fs": [
      "call",
      "config/file",
      "config/source",
      "files",
      "jail",
      "regex/engine",
      "shell/confinement",
      "shell/services",
      "audit",
      "journal",
      "os-sandbox",
      "state",
      "transactions",
      "watch",
      "engine/peer",
      "processes/launch",
      "processes/output",
      "processes/pipe",
      "processes/process-table",
      "processes/program",
      "processes/start",
      "processes/working-folder",
      "watchdog/thread",
    ],
    "node:fs/promises": [],
    "node:net": ["call", "engine"],
    "node:http": ["engine", "mcp"],
    "node:https": [],
    "node:child_process": [],
    "node:worker_threads": ["threads", "watchdog/thread"],
  },
  onlyOnBun: ["bun"],
  readEnvironment: ["main", "worker/bus"],
  nameCodes: ["coder/errors", "shell/errors"],
  changeFiles: [
    "files/exchange",
    "files/hidden-folder",
    "files/metadata",
    "files/move-to-new",
    "files/mutate",
    "files/mutate-names",
    "files/mutate-steps",
    "files/write",
    // A name that is there for a moment, to see how names are compared.
    "jail/case-sensitivity",
    // The handles whose `chmod` and `chown` `files/mutate` calls.
    "jail/current-directory",
    "jail/descriptor-handle",
    "jail/walked-path",
    // It makes a folder for temporary files of commands, and removes it.
    "os-sandbox/private-folder",
    // It writes to a file in memory.
    "os-sandbox/linux",
    // It makes the state folder, which lies outside of every tree.
    "state/state-folder",
    // It writes into that folder.
    "journal/segment-folder",
    "journal/segments",
    // It appends to the file that the operator names, outside of the tree.
    "audit/audit-file",
    // What they keep there: records, and who works on them.
    "transactions/intents",
    "transactions/root-lock",
    // It writes to stderr.
    "watchdog/thread",
  ],
  openToTests: [
    "arguments/flags",
    "config/source",
    "scheduling/deadline",
    "engine/engine",
    "coder/functions",
    "watchdog/watchdog",
    "contract/bus-access",
    "contract/definition",
    "worker/invoke",
    "log/log",
    "workers",
    "coder/services",
  ],
};
