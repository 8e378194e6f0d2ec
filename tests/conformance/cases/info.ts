import { version } from "../../../package.json";
import { type Case, Matcher, notAnObject } from "../case.ts";

const id = "coder::info";

const usual = {
  non_accessible: ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/secrets/**"],
  default_exclude: [
    "**/.git/**",
    "**/node_modules/**",
    "**/target/**",
    "**/dist/**",
    "**/.venv/**",
    "**/__pycache__/**",
  ],
  write_deny: [] as readonly string[],
};

const limits = {
  call_timeout_ms: 25_000,
  list_max_page_size: 1000,
  max_answer_bytes: 16_711_680,
  max_read_bytes: 10_485_760,
  max_transaction_bytes: 67_108_864,
  max_write_bytes: 10_485_760,
};

const functions = new Matcher(
  "the ids of all functions",
  (value) =>
    Array.isArray(value) && value.includes(id) && value.includes("coder::tree") && value.length >= 16,
);
const amount = new Matcher("a whole number", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
/** Matches both: without threads or exact change times of files, the worker has no index. */
const index = new Matcher("how files are found", (value) => value === "verified" || value === "scan");

const says = (name: string, config: Case["config"] | undefined, differs: object = {}): Case => ({
  name,
  ...(config && { config }),
  tree: { ".env": "secret", a: "" },
  call: { function: id, payload: {} },
  expect: {
    answer: {
      audit: { enabled: false },
      functions,
      globs: usual,
      health: { memory_bytes: amount, uptime_ms: amount },
      index: "scan",
      journal: { enabled: false },
      limits,
      profile: "contract",
      roots: [{ name: ".", read_only: false }],
      version,
      ...differs,
    },
  },
});

const agentGlobs = new Matcher(
  "globs of the files by which other programs run commands",
  (value) => Array.isArray(value) && ["**/.git", "**/.cursor"].every((glob) => value.includes(glob)),
);

const turnedOff = { enabled: false, reason: "the configuration sets `journal.max_records` to 0" };

export const cases: readonly Case[] = [
  says("a worker without a configuration", undefined),
  says("the profile contract, by name", { profile: "contract" }),
  says(
    "the profile agent",
    { profile: "agent", journal: { max_records: 0 } },
    { profile: "agent", index, globs: { ...usual, write_deny: agentGlobs }, journal: turnedOff },
  ),
  says(
    "the profile agent with globs of the operator",
    { profile: "agent", journal: { max_records: 0 }, write_deny_globs: ["a"] },
    { profile: "agent", index, globs: { ...usual, write_deny: ["a"] }, journal: turnedOff },
  ),
  says(
    "globs of what may be written all the same",
    { write_allow_globs: ["a"] },
    { globs: { ...usual, write_allow: ["a"] } },
  ),
  says("deny globs", { non_accessible_globs: ["x/**"] }, { globs: { ...usual, non_accessible: ["x/**"] } }),
  says("no excludes", { default_exclude_globs: [] }, { globs: { ...usual, default_exclude: [] } }),
  says("a journal", { journal: {} }, { journal: { enabled: true } }),
  ...(Object.keys(limits) as (keyof typeof limits)[]).map((key) =>
    says(`another ${key}`, { [key]: 70_000 }, { limits: { ...limits, [key]: 70_000 } }),
  ),
  ...notAnObject(id),
];
