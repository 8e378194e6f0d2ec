import { type AgentJob, callTool } from "../job.ts";

export default {
  title: "Several roots",
  about: "Work in an application beside a library that may only be read.",
  showsInstructions: true,
  tree: {
    "../app/main.ts": 'import { trim } from "lib";\n',
    "../lib/trim.ts": "export const trim = (text: string) => text.trim();\n",
  },
  config: {
    roots: [
      { name: "app", path: "<root>/app" },
      { name: "lib", path: "<root>/lib", read_only: true },
    ],
  },
  steps: [
    callTool("coder_info"),
    callTool("coder_tree"),
    callTool("coder_search", { query: "trim" }),
    callTool("coder_read_file", { path: "main.ts" }),
    callTool("coder_copy", { files: [{ from: "lib/trim.ts", to: "app/trim.ts" }] }),
    callTool("coder_move", { files: [{ from: "app/trim.ts", to: "lib/text/trim.ts" }] }),
    callTool("coder_create_file", { path: "new/file.ts", content: "" }),
    callTool("coder_undo"),
  ],
} satisfies AgentJob;
