import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Names and texts that look like mistakes",
  about:
    "Paths as a shell, a browser or an editor takes them, text pasted with line numbers, an edit sent twice and a character that looks like another; then names and text that are meant so.",
  tree: shop,
  args: ["--tools", "all"],
  steps: [
    callTool("coder_read_file", { path: "~/README.md" }),
    callTool("coder_read_file", { path: "file://<base>/README.md" }),
    callTool("coder_read_file", { path: "src/user.ts:2" }),
    callTool("coder_create_file", { path: '"notes.txt"', content: "notes\n" }),
    callTool("coder_create_file", { path: "notes.txt", content: "1→notes\n2→\n3→more\n" }),
    callTool("coder_update_file", { path: "README.md", old_str: "# Shop", new_str: "# Our shop" }),
    callTool("coder_update_file", { path: "README.md", old_str: "# Shop\n", new_str: "# Our shop\n" }),
    callTool("coder_update_file", {
      path: "README.md",
      old_str: "Run\u00a0it with",
      new_str: "Start it with",
    }),
    callTool("coder_create_file", { path: "log:1", content: "log\n", literal: true }),
    callTool("coder_read_file", { path: "log:1" }),
    callTool("coder_update_file", { path: "log:1", old_str: "log", new_str: "1→log", literal: true }),
    callTool("coder_copy", { from: "log:1", to: "log:2", literal: true }),
    callTool("coder_move", { from: "log:2", to: "log:3", literal: true }),
    callTool("coder_make_folder", { paths: ["~"], literal: true }),
    callTool("coder_transact", { changes: [{ op: "move", from: "log:3", to: "log:4" }], literal: true }),
    callTool("coder_apply_patch", {
      patch: "*** Begin Patch\n*** Add File: log:5\n+log\n*** End Patch\n",
      literal: true,
    }),
  ],
} satisfies AgentJob;
