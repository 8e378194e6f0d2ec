import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Run commands",
  about:
    "Run programs in a project: with arguments, variables, standard input and limits; what fails, and what is not allowed.",
  tree: {
    ...shop,
    "noisy.sh":
      "i=0\nwhile [ $i -lt 400 ]; do echo line $i; i=$((i+1)); done\necho the last error >&2\nexit 3\n",
  },
  worker: "shell",
  showsInstructions: true,
  config: { allowlist: ["cat", "ls", "sh", "sleep", "printenv", "pwd"] },
  steps: [
    callTool("shell_exec", { command: "ls", args: ["src"] }),
    callTool("shell_exec", { command: "cat package.json" }),
    callTool("shell_exec", { command: "cat", args: ["none.txt"] }),
    callTool("shell_exec", { command: "pwd", cwd: "<base>/src" }),
    callTool("shell_exec", { command: "printenv", args: ["NAME"], env: { NAME: "world" } }),
    callTool("shell_exec", { command: "cat", stdin: "given\n" }),
    callTool("shell_exec", { command: "sh", args: ["noisy.sh"], max_output_bytes: 60 }),
    callTool("shell_exec", { command: "sleep", args: ["30"], timeout_ms: 100 }),
    callTool("shell_exec", { command: "curl", args: ["https://example.com"] }),
    callTool("shell_exec", { command: "ls | wc -l" }),
    callTool("shell_exec", { command: "printenv", env: { PATH: "/tmp" } }),
    callTool("shell_exec", { command: "ls", cwd: "src" }),
    callTool("shell_exec", { command: "ls", cwd: ".." }),
  ],
} satisfies AgentJob;
