/**
 * The plan of the house: the imports that each part of src may use. `npm test -- --only rooms` compares it
 * with the sources.
 */
export interface Plan {
  /**
   * Each room, and the rooms that it may import from. A room is a folder or a file below src, named without
   * `.ts`; a file belongs to the room with the longest name that fits. Arrows go down only: a cycle is an
   * error.
   */
  readonly rooms: Readonly<Record<string, readonly string[]>>;
  /**
   * Each package, and the rooms or files that may import it; usually a single file, so that the package can
   * be replaced.
   */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /**
   * The platform modules that reach beyond the process, and the files that may import them. Their types may
   * be used anywhere.
   */
  readonly guarded: Readonly<Record<string, readonly string[]>>;
  /** The files that may use APIs of Bun alone. */
  readonly onlyOnBun: readonly string[];
  /** The files that may read `process.env`. Others are passed the parts that they need. */
  readonly readEnvironment: readonly string[];
  /** The files that may contain codes of the wire, such as "C210". */
  readonly nameCodes: readonly string[];
  /**
   * The files that may change files: `files/mutate` and its parts, and those that write nothing into the
   * tree.
   */
  readonly changeFiles: readonly string[];
  /** The files of src that tests/ may import. It sees the worker from outside. */
  readonly openToTests: readonly string[];
}

export const plan: Plan = {
  rooms: {
    main: ["about", "arguments", "call", "licenses", "mcp", "reference", "run", "workers"],
    call: ["about", "arguments", "config", "contract", "log", "process", "worker", "workers"],
    run: [
      "arguments",
      "config",
      "engine",
      "log",
      "process",
      "reload",
      "telemetry",
      "watchdog",
      "worker",
      "workers",
    ],
    reload: ["config", "contract", "log", "worker", "workers"],
    mcp: [
      "about",
      "arguments",
      "coder",
      "config",
      "contract",
      "log",
      "process",
      "schema",
      "telemetry",
      "text",
      "watchdog",
      "worker",
      "workers",
    ],
    telemetry: ["about", "config", "contract", "log", "worker"],
    workers: ["about", "arguments", "coder", "config", "contract", "log", "shell"],
    process: ["contract", "log"],
    coder: [
      "about",
      "audit",
      "config",
      "contract",
      "edits",
      "errors",
      "feed",
      "files",
      "globs",
      "ignore",
      "jail",
      "journal",
      "log",
      "patch",
      "quotas",
      "regex",
      "requests",
      "scheduling",
      "schema",
      "search",
      "search/matchers",
      "search/request",
      "search/walk",
      "shell",
      "text",
      "transactions",
      "watch",
    ],
    arguments: ["about", "config", "log"],
    licenses: [],
    about: [],

    shell: [
      "audit",
      "config",
      "contract",
      "errors",
      "feed",
      "files",
      "globs",
      "jail",
      "journal",
      "log",
      "os-sandbox",
      "processes",
      "quotas",
      "regex",
      "scheduling",
      "schema",
      "search",
      "search/batches",
      "search/walk",
      "state",
      "text",
      "transactions",
      "watch",
    ],
    worker: ["bun", "contract", "errors", "log", "requests", "scheduling", "schema", "text"],
    requests: ["contract", "edits", "errors"],
    reference: ["about", "contract", "requests", "schema"],
    contract: ["config", "log", "scheduling"],
    text: ["wasm"],
    log: [],
    config: ["log", "schema"],
    schema: [],

    prefilter: ["regex", "wasm"],
    index: ["files", "jail", "prefilter", "scheduling", "wasm"],
    search: [
      "files",
      "index",
      "jail",
      "regex",
      "scheduling",
      "search/answer",
      "search/batches",
      "search/index",
      "search/matchers",
      "search/place",
      "search/request",
      "search/walk",
      "threads",
      "wasm",
    ],
    "search/index": [
      "files",
      "ignore",
      "index",
      "jail",
      "scheduling",
      "search/answer",
      "search/batches",
      "search/matchers",
      "search/request",
      "search/walk",
      "threads",
      "watch",
    ],
    "search/answer": [
      "ignore",
      "scheduling",
      "search/batches",
      "search/matchers",
      "search/place",
      "search/request",
      "search/walk",
      "text",
    ],
    "search/batches": [
      "files",
      "index",
      "jail",
      "prefilter",
      "regex",
      "search/matchers",
      "search/place",
      "search/walk",
      "threads",
    ],
    "search/request": ["ignore", "jail", "scheduling", "search/matchers", "search/place", "search/walk"],
    "search/matchers": ["files", "index", "prefilter", "regex", "search/place", "search/walk"],
    "search/walk": ["files", "globs", "ignore", "jail", "scheduling"],
    "search/place": [],
    ignore: ["files", "globs", "jail"],
    transactions: ["config", "errors", "files", "jail", "log", "scheduling", "state"],
    files: ["errors", "jail", "scheduling"],
    jail: ["bun", "errors", "globs", "scheduling"],
    regex: ["errors", "scheduling", "threads", "wasm"],
    threads: [],
    watchdog: ["bun", "threads"],
    patch: ["edits", "errors", "scheduling"],
    edits: ["errors", "scheduling", "text"],
    state: ["config", "jail"],
    journal: ["config", "errors", "files", "jail", "log", "scheduling", "state"],
    quotas: ["errors"],
    audit: ["config", "contract", "files", "jail", "log"],
    wasm: ["bun"],
    feed: ["errors", "files", "jail", "watch"],
    watch: ["bun", "jail", "log", "scheduling"],
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
    "@opentelemetry/api": ["telemetry"],
    "@opentelemetry/core": ["telemetry/collector"],
    "@opentelemetry/otlp-transformer": ["telemetry/collector"],
    "@opentelemetry/resources": ["telemetry/collector"],
    "@opentelemetry/sdk-metrics": ["telemetry/collector"],
    "@opentelemetry/sdk-trace-node": ["telemetry/collector"],
    "@sinclair/typebox": [
      "contract",
      "coder",
      "config/file",
      "audit/audit-config",
      "quotas/quotas-config",
      "journal/journal-config",
      "mcp",
      "reference",
      "requests",
      "shell",
      "schema",
    ],
    execa: ["processes/start"],
    "fastest-levenshtein": ["requests/field-names"],
    "iii-sdk": ["worker/bus"],
    rregex: ["regex/engine"],
    ws: ["engine"],
    yaml: ["config/file"],
  },
  guarded: {
    "node:fs": [
      "index/sign-files",
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
      "telemetry/call-meter",
      "transactions",
      "watch",
      "engine/peer",
      "processes/launch",
      "processes/output",
      "processes/output-log",
      "processes/pipe",
      "processes/process-table",
      "processes/program",
      "processes/standard-input",
      "processes/start",
      "processes/working-folder",
      "watchdog/thread",
    ],
    "node:fs/promises": [],
    "node:net": ["call", "engine"],
    "node:http": ["engine", "mcp"],
    "node:https": [],
    "node:child_process": ["os-sandbox/loopback", "os-sandbox/mount-trial"],
    "node:worker_threads": ["threads", "watchdog/thread"],
  },
  onlyOnBun: ["bun"],
  readEnvironment: ["main"],
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
    // It makes a temporary name, to find out how names are compared.
    "jail/case-sensitivity",
    // `files/mutate` calls `chmod` and `chown` of these handles.
    "jail/current-directory",
    "jail/descriptor-handle",
    "jail/walked-path",
    // It makes a folder for temporary files of commands, and removes it.
    "os-sandbox/private-folder",
    // It keeps the output of commands in nameless files.
    "processes/output-log",
    // It makes and removes control groups, and puts processes into them.
    "os-sandbox/control-groups",
    // It writes to the standard input of programs.
    "processes/standard-input",
    // It makes the files that are mounted over denied ones, in a folder of their own.
    "os-sandbox/masks",
    // It writes to a file in memory.
    "os-sandbox/image",
    // It makes the state folder, which is outside of every tree.
    "state/state-folder",
    // These write into that folder.
    "journal/segment-folder",
    "journal/segments",
    // It appends to the file that the operator names, outside of the tree.
    "audit/audit-file",
    // These keep records in that folder, and the lock of the process that works on them.
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
    "jail/autorun",
  ],
};
