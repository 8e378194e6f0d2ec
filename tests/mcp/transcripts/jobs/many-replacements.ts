import { type AgentJob, callTool } from "../job.ts";

const lines = Array.from({ length: 12 }, (_, index) => `log.info("step ${index + 1}");\n`).join("\n\n\n\n");

export default {
  title: "An edit in many places",
  about:
    "Replace a call in more places than are shown, and see that nothing is said to be shown that is not.",
  tree: { "steps.ts": lines, "wide.ts": `const text = "${"x".repeat(700)}";\n` },
  steps: [
    callTool("coder_update_file", {
      path: "steps.ts",
      ops: [{ op: "str_replace", old_str: "log.info", new_str: "log.debug", replace_all: true }],
    }),
    callTool("coder_transact", {
      changes: [
        {
          op: "update",
          path: "steps.ts",
          ops: [{ op: "replace", pattern: "step (\\d)\\b", replacement: "Step $1" }],
        },
      ],
    }),
    callTool("coder_update_file", {
      path: "steps.ts",
      ops: [{ op: "str_replace", old_str: "log.debug", new_str: "log.trace", replace_all: true }],
      answer: "none",
    }),
    callTool("coder_update_file", {
      path: "wide.ts",
      ops: [{ op: "str_replace", old_str: "const text", new_str: "const wide" }],
    }),
  ],
} satisfies AgentJob;
