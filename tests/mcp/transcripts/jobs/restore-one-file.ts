import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const edit = (path: string, old_str: string, new_str: string) => ({
  path,
  ops: [{ op: "str_replace", old_str, new_str }],
});

export default {
  title: "Restore one file of many",
  about: "Of what several calls changed, bring back one file, and the older content of another.",
  tree: shop,
  steps: [
    callTool("coder_update_file", {
      files: [edit("README.md", "cents", "euros"), edit("package.json", "1.2.0", "1.3.0")],
      answer: "none",
    }),
    callTool("coder_move", { files: [{ from: "src/user.ts", to: "src/people/user.ts" }] }),
    callTool("coder_delete_file", { paths: ["test/orders.test.ts", "docs/orders.md"] }),
    callTool("coder_read_file", { path: "src/user.ts" }),
    callTool("coder_checkpoints", { path: "src/user.ts" }),
    callTool("coder_checkpoints", { path: "docs", limit: 1 }),
    callTool("coder_checkpoints", { before_seq: 2 }),
    callTool("coder_undo", { seq: 3, paths: ["docs/orders.md"] }),
    callTool("coder_undo", { paths: ["README.md"] }),
    callTool("coder_undo", { seq: 1, paths: ["README.md"] }),
    callTool("coder_undo", { paths: ["src/people"] }),
  ],
} satisfies AgentJob;
