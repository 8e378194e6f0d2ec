import { type AgentJob, callTool } from "../job.ts";

export default {
  title: "Fix, test, build",
  about:
    "One server for files and commands: a test that fails is read, its cause is edited, and the test runs again.",
  tree: {
    "price.sh": "gross() {\n  echo $(($1 + $1 * 19 / 10))\n}\n",
    "test.sh":
      '. ./price.sh\n[ "$(gross 100)" = 119 ] || { echo "gross 100 is $(gross 100), not 119" >&2; exit 1; }\necho ok\n',
    "docs/notes.md": "# Notes\n",
    ".env": "TOKEN=secret\n",
  },
  args: ["--commands", "--allow", "sh"],
  showsInstructions: true,
  steps: [
    callTool("shell_exec", { command: "sh test.sh" }),
    callTool("coder_search", { query: "gross()" }),
    callTool("coder_update_file", { path: "price.sh", old_str: "19 / 10", new_str: "19 / 100" }),
    callTool("shell_exec", { command: "sh test.sh" }),
    callTool("shell_exec", { command: "ls", cwd: "docs" }),
    callTool("shell_exec", { command: "ls", cwd: "../other" }),
    callTool("coder_read_file", { path: ".env" }),
    callTool("shell_exec", { command: "make" }),
  ],
} satisfies AgentJob;
