import { type AgentJob, callTool } from "../job.ts";

export default {
  title: "Fix, test, build",
  about:
    "One server for files and commands: a test that fails is read, its cause is edited, and the test runs again. What a program then does to files that were held for it is taken back.",
  tree: {
    "price.sh": "gross() {\n  echo $(($1 + $1 * 19 / 10))\n}\n",
    "test.sh":
      '. ./price.sh\n[ "$(gross 100)" = 119 ] || { echo "gross 100 is $(gross 100), not 119" >&2; exit 1; }\necho ok\n',
    "generate.sh":
      "echo 'gross() { :; }' > price.sh\nrm docs/notes.md\necho made > docs/made.md\necho x > log\n",
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
    callTool("shell_exec", { command: "sh generate.sh", snapshot: ["price.sh", "docs/"] }),
    callTool("coder_checkpoints", { limit: 1, answer: "diff" }),
    callTool("coder_undo", {}),
    callTool("shell_exec_bg", { command: "sh generate.sh", snapshot: ["docs"], start_ms: 20_000 }),
  ],
} satisfies AgentJob;
