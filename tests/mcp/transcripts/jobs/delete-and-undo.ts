import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Delete a folder, and take it back",
  about:
    "A folder was deleted by mistake, and an edit was made since: bring the folder back and keep the edit.",
  tree: { ...shop, "docs/build.sh": { text: "#!/bin/sh\nnpm run docs\n", mode: 0o755 } },
  steps: [
    callTool("coder_delete_file", { paths: ["docs"] }),
    callTool("coder_delete_file", { paths: ["docs"], recursive: true, dry_run: true }),
    callTool("coder_delete_file", { paths: ["docs"], recursive: true }),
    callTool("coder_update_file", {
      path: "package.json",
      ops: [{ op: "str_replace", old_str: '"1.2.0"', new_str: '"1.3.0"' }],
    }),
    callTool("coder_checkpoints"),
    callTool("coder_undo", { seq: 2, dry_run: true }),
    callTool("coder_undo", { seq: 2 }),
    callTool("coder_list_folder", { path: "docs" }),
  ],
} satisfies AgentJob;
