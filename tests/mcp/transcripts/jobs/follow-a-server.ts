import { type AgentJob, callTool, others } from "../job.ts";

export default {
  title: "Follow a server",
  about:
    "A server is started, asked and ended in four calls. This one takes its requests from a pipe, and needs some time to start.",
  tree: {
    "serve.sh": [
      "mkfifo requests answers",
      "until [ -e certificate ]; do sleep 0.01; done",
      "echo listening",
      "while read -r name < requests; do",
      '  echo "asked by $name"',
      '  echo "hello, $name" > answers',
      "done",
      "",
    ].join("\n"),
  },
  worker: "shell",
  config: { allowlist: ["sh"] },
  steps: [
    callTool("shell_exec_bg", { command: "sh serve.sh" }),
    others({ certificate: "" }),
    callTool("shell_status", { job_id: "job-1", wait_for: "listening" }),
    callTool("shell_exec", { command: "sh", args: ["-c", "echo world > requests; cat answers"] }),
    callTool("shell_kill", { job_id: "job-1" }),
  ],
} satisfies AgentJob;
