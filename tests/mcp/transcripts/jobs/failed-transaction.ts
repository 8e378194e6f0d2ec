import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const replace = (path: string, old_str: string, new_str: string) => ({
  op: "update",
  path,
  ops: [{ op: "str_replace", old_str, new_str }],
});

export default {
  title: "A transaction that fails, and its repair",
  about:
    "Release a version over several files, where one of the edits misses: nothing may be done by halves.",
  tree: shop,
  steps: [
    callTool("coder_transact", {
      changes: [
        replace("package.json", '"1.2.0"', '"1.3.0"'),
        { op: "create", path: "docs/changes.md", content: "# 1.3.0\n\nFirst.\n" },
        replace("README.md", "Run it with npm start.", "Start it with npm start."),
        { op: "delete", path: "docs/orders.md" },
      ],
    }),
    callTool("coder_search", { query: "1.3.0" }),
    callTool("coder_transact", {
      changes: [
        replace("package.json", '"1.2.0"', '"1.3.0"'),
        { op: "create", path: "docs/changes.md", content: "# 1.3.0\n\nFirst.\n" },
        replace("README.md", "Run it with", "Start it with"),
        { op: "delete", path: "docs/orders.md" },
      ],
      answer: "diff",
      label: "release 1.3.0",
    }),
    callTool("coder_transact", {
      changes: [
        { op: "create", path: "docs/changes.md", content: "# 1.4.0\n" },
        { op: "delete", path: "src" },
      ],
      answer: "none",
    }),
    callTool("coder_undo", { seq: 1 }),
    callTool("coder_undo", { transaction: "0123456789abcdef" }),
  ],
} satisfies AgentJob;
