import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

const transact = callTool("coder_transact", {
  changes: [
    { op: "update", path: "README.md", ops: [{ op: "str_replace", old_str: "# Shop", new_str: "# Store" }] },
    { op: "copy", from: "README.md", to: "docs/README.md" },
  ],
  dry_run: true,
});

export default {
  title: "A plan whose files have changed",
  about: "Commit a dry run after another program has changed one of its files.",
  tree: shop,
  steps: [
    transact,
    others({ "README.md": "# Shop\n\nClosed.\n" }),
    callTool("coder_commit", { plan: "<plan 1>" }),
    transact,
    callTool("coder_commit", { plan: "<plan 2>" }),
    callTool("coder_commit", { plan: "not a plan" }),
  ],
} satisfies AgentJob;
