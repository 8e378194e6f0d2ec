import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Files that are denied",
  about: "Look for a setting that stands in a file which the user has denied, and try the ways around.",
  tree: {
    ...shop,
    ".env": "STRIPE_KEY=sk_live_1\n",
    "config/.env.local": "STRIPE_KEY=sk_test_1\n",
    ".git/config": "[core]\n\tbare = false\n",
    etc: { link: "/etc" },
    settings: { link: ".env" },
    "../outside.txt": "not yours\n",
  },
  steps: [
    callTool("coder_search", { query: "STRIPE_KEY" }),
    callTool("coder_read_file", { path: ".env" }),
    callTool("coder_read_file", { path: "secrets/none.txt" }),
    callTool("coder_read_file", { path: "settings" }),
    callTool("coder_list_folder", { path: "." }),
    callTool("coder_read_file", { path: "../outside.txt" }),
    callTool("coder_read_file", { path: "etc/passwd" }),
    callTool("coder_read_file", { path: "/etc/passwd" }),
    callTool("coder_create_file", { path: ".env", content: "STRIPE_KEY=mine\n", overwrite: true }),
    callTool("coder_copy", { files: [{ from: ".env", to: "env.txt" }] }),
    callTool("coder_move", { files: [{ from: "config", to: "conf" }] }),
    callTool("coder_delete_file", { paths: [".env"] }),
    callTool("coder_read_file", { path: ".git/config" }),
    callTool("coder_create_file", { path: ".git/hooks/pre-commit", content: "#!/bin/sh\n", mode: "0755" }),
  ],
} satisfies AgentJob;
