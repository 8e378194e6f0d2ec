import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const edit = (path: string, old_str: string, new_str: string) => ({
  path,
  ops: [{ op: "str_replace", old_str, new_str }],
  answer: "none",
});

const other = { by: "other" };

export default {
  title: "Two clients in one folder",
  about: "Another client has worked in the folder. Each sees whose work it is, and takes back its own.",
  tree: shop,
  steps: [
    callTool("coder_update_file", edit("README.md", "cents", "euros")),
    callTool("coder_update_file", edit("package.json", "1.2.0", "1.3.0")),
    callTool("coder_undo", {}, other),
    callTool("coder_info", {}, other),
    callTool("coder_update_file", edit("src/user.ts", "Ada", "Bea"), other),
    callTool("coder_checkpoints"),
    callTool("coder_checkpoints", { by: "me" }, other),
    callTool("coder_undo"),
    callTool("coder_undo", { author: "<session 1>", dry_run: true }, other),
    callTool("coder_undo", { seq: 1 }, other),
    callTool("coder_undo", { author: "anyone", dry_run: true }),
    callTool("coder_checkpoints", { by: "others", limit: 1 }),
  ],
} satisfies AgentJob;
