import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const changes = [
  { op: "move", from: "src/prices.ts", to: "src/money/prices.ts" },
  {
    op: "update",
    path: "src/orders.ts",
    ops: [{ op: "str_replace", old_str: "./prices.ts", new_str: "./money/prices.ts" }],
  },
  { op: "create", path: "src/money/index.ts", content: 'export * from "./prices.ts";\n' },
];

export default {
  title: "A transaction: dry run, plan and commit",
  about:
    "Move a module, repair its import and add an index, all or nothing, after a look at what would happen.",
  tree: shop,
  steps: [
    callTool("coder_transact", {
      changes: [
        ...changes,
        { op: "delete", path: "src/old-prices.ts" },
        { op: "chmod", path: "src/no.ts", mode: "0755" },
      ],
      dry_run: true,
    }),
    callTool("coder_transact", { changes, dry_run: true, label: "prices become a folder" }),
    callTool("coder_commit", { plan: "<plan 1>" }),
    callTool("coder_commit", { plan: "<plan 1>" }),
    callTool("coder_checkpoints"),
    callTool("coder_read_file", { path: "src/money/index.ts" }),
  ],
} satisfies AgentJob;
