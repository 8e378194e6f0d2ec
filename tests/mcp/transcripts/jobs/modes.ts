import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Permissions",
  about: "Make a script that can be run, keep the modes of what is overwritten, and see them.",
  tree: {
    ...shop,
    "run.sh": { text: "#!/bin/sh\necho old\n", mode: 0o755 },
    "key.txt": { text: "private\n", mode: 0o600 },
    "private/": { mode: 0o700 },
  },
  steps: [
    callTool("coder_create_file", { path: "bin/start.sh", content: "#!/bin/sh\nnode src\n", mode: "0755" }),
    callTool("coder_create_file", {
      files: [
        { path: "run.sh", content: "#!/bin/sh\necho new\n", overwrite: true },
        { path: "key.txt", content: "still private\n", overwrite: true },
      ],
    }),
    callTool("coder_read_file", { paths: ["bin/start.sh", "run.sh", "key.txt"], stat: true }),
    callTool("coder_read_file", { path: "private", stat: true }),
    callTool("coder_transact", { changes: [{ op: "chmod", path: "package.json", mode: "755" }] }),
    callTool("coder_transact", { changes: [{ op: "chmod", path: "package.json", mode: "rwx" }] }),
    callTool("coder_list_folder", { path: "." }),
  ],
} satisfies AgentJob;
