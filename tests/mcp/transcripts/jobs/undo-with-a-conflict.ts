import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

const edit = (path: string, old_str: string, new_str: string) =>
  callTool("coder_update_file", { path, ops: [{ op: "str_replace", old_str, new_str }] });

export default {
  title: "Undo with a conflict",
  about: "Take back edits, of which one was built upon by a later call and one by another program.",
  tree: shop,
  steps: [
    edit("README.md", "Run it", "Start it"),
    edit("README.md", "npm start", "npm run shop"),
    edit("src/user.ts", "Ada", "Grace"),
    callTool("coder_undo", { seq: 1 }),
    others({ "src/user.ts": shop["src/user.ts"].replace("Ada", "Edsger") }),
    callTool("coder_undo"),
    callTool("coder_undo", { force: true }),
    callTool("coder_undo", { steps: 2, dry_run: true }),
    callTool("coder_undo", { seq: 2 }),
    callTool("coder_undo", { seq: 2 }),
    callTool("coder_undo", { seq: 17 }),
    callTool("coder_checkpoints"),
    callTool("coder_read_file", { paths: ["README.md", "src/user.ts"] }),
  ],
} satisfies AgentJob;
