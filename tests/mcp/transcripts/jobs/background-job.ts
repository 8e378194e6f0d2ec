import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "A job in the background",
  about: "Start programs that run on, see what became of them, and end one.",
  tree: {
    ...shop,
    "build.sh": "echo compiling\necho done\n",
    "serve.sh": "until [ -e start ]; do sleep 0.01; done\necho listening on $PORT\nexec sleep 60\n",
  },
  worker: "shell",
  config: { allowlist: ["cat", "sh"] },
  steps: [
    callTool("shell_exec_bg", { command: "sh", args: ["build.sh"], start_ms: 20_000 }),
    callTool("shell_exec_bg", { command: "cat none.txt", start_ms: 20_000 }),
    callTool("shell_exec_bg", {
      command: "sh",
      args: ["serve.sh"],
      cwd: "<base>",
      env: { PORT: "8080" },
    }),
    others({ start: "" }),
    callTool("shell_status", { job_id: "job-3", wait_for: "listening on", wait_ms: 20_000 }),
    callTool("shell_list"),
    callTool("shell_kill", { job_id: "job-3" }),
    callTool("shell_status", { job_id: "job-3", since: 2 }),
    callTool("shell_kill", { job_id: "job-3" }),
    callTool("shell_exec_bg", { command: "cat", stdin: "given\n", job_id: "copy", start_ms: 20_000 }),
    callTool("shell_exec_bg", { command: "cat", job_id: "copy" }),
    callTool("shell_status", { job_id: "job-none" }),
  ],
} satisfies AgentJob;
