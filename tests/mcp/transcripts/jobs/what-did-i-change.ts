import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

const other = { by: "other" };

export default {
  title: "What did I change",
  about: "At the end of a session, see what differs now: by name, in numbers, as a patch, and whose it is.",
  tree: shop,
  steps: [
    callTool("coder_changes"),
    callTool("coder_move", { files: [{ from: "src/user.ts", to: "src/people/user.ts" }] }),
    callTool("coder_update_file", {
      path: "src/people/user.ts",
      old_str: "Ada",
      new_str: "Bea",
      answer: "none",
    }),
    callTool("coder_update_file", { path: "README.md", old_str: "cents", new_str: "euros", answer: "none" }),
    callTool("coder_update_file", { path: "README.md", old_str: "euros", new_str: "cents", answer: "none" }),
    callTool("coder_delete_file", { paths: ["docs"], recursive: true }, other),
    others({ "package.json": '{\n  "name": "store"\n}\n' }),
    callTool("coder_changes", { answer: "names" }),
    callTool("coder_changes", { answer: "stat", by: "me" }),
    callTool("coder_changes", { answer: "diff", path: "src" }),
    callTool("coder_changes", { answer: "diff", images: true, path: "src", max_diff_bytes: 120 }),
    callTool("coder_checkpoints", { answer: "diff", images: true, limit: 1, max_diff_bytes: 120 }),
    callTool("coder_changes", { by: "others" }),
    callTool("coder_changes", { checkpoint: 1, net: true, limit: 2 }),
    callTool("coder_changes", { checkpoint: 1, net: true, cursor: "0 docs/orders.md" }),
    callTool("coder_checkpoints", { seq: 2, answer: "diff" }),
    callTool("coder_checkpoints", { path: "src/people/user.ts", answer: "stat" }),
    callTool("coder_checkpoints", { answer: "names", limit: 1 }),
  ],
} satisfies AgentJob;
