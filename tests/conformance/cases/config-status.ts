import { type Case, notAnObject } from "../case.ts";

const id = "coder::config-status";

/** Makes a case without a reload: the answer does not depend on the configuration. */
const started = (name: string, config: Case["config"] | undefined, payload: object = {}): Case => ({
  name,
  ...(config && { config }),
  tree: { a: "" },
  call: { function: id, payload },
  expect: {
    answer: {
      applied_reloads: 0,
      last_outcome: "started",
      needs_restart: ["base_path", "roots", "journal", "call_timeout_ms", "review"],
      rejected_reloads: 0,
    },
  },
});

export const cases: readonly Case[] = [
  started("a worker without a configuration", undefined),
  started("fields that it does not know", undefined, { verbose: true, path: "../.." }),
  started("a path that is none of its fields", undefined, { path: ".env" }),
  started("the profile agent", { profile: "agent", journal: { max_records: 0 } }),
  started("the profile contract", { profile: "contract" }),
  started("a journal", { journal: {} }),
  started("deny globs", { non_accessible_globs: ["x/**"] }),
  started("no deny globs", { non_accessible_globs: [] }),
  started("protected globs", { write_deny_globs: ["a"] }),
  started("quotas", { quotas: { calls_per_second: 100 } }),
  started("a shorter time for calls", { call_timeout_ms: 10_000 }),
  started("small answers", { max_answer_bytes: 70_000 }),
  ...notAnObject(id),
];
