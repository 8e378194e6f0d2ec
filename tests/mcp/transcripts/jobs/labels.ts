import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const patch = `--- a/package.json
+++ b/package.json
@@ -2,3 +2,3 @@
   "name": "shop",
-  "version": "1.2.0",
+  "version": "1.3.0",
   "type": "module"
`;

export default {
  title: "Label each step, and find it again",
  about: "Prepare a release in small steps, each with a label, and see them in the list of checkpoints.",
  tree: shop,
  args: ["--tools", "all"],
  steps: [
    callTool("coder_create_file", { path: "CHANGES.md", content: "# 1.3.0\n", label: "start the changes" }),
    callTool("coder_update_file", {
      path: "CHANGES.md",
      old_str: "# 1.3.0\n",
      new_str: "# 1.3.0\n\n- Prices in euros.\n",
      label: "list the prices",
    }),
    callTool("coder_apply_patch", { patch, label: "raise the version" }),
    callTool("coder_make_folder", { paths: ["old"], label: "make room" }),
    callTool("coder_copy", {
      files: [{ from: "README.md", to: "old/README.md" }],
      label: "keep the old text",
    }),
    callTool("coder_move", { files: [{ from: "docs", to: "old/docs" }], label: "put the guide away" }),
    callTool("coder_delete_file", { paths: [".gitignore"], label: "ignore nothing" }),
    callTool("coder_undo", { label: "ignore it again" }),
    callTool("coder_transact", { changes: [{ op: "delete", path: "old", recursive: true }], dry_run: true }),
    callTool("coder_commit", { plan: "<plan 1>", label: "throw the old away" }),
    callTool("coder_checkpoints"),
  ],
} satisfies AgentJob;
