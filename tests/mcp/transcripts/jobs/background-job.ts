import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "A job in the background",
  about: "Start programs that run on, see what became of them, and end one.",
  tree: {
    ...shop,
    "build.sh": "echo compiling\necho done\n",
    "serve.sh": "echo listening on $PORT\ntouch ready\nexec sleep 60\n",
  },
  worker: "shell",
  config: { allowlist: ["cat", "sh"] },
  steps: [
    callTool("shell_exec_bg", { command: "sh", args: ["build.sh"] }),
    callTool("shell_status", { job_id: "<job 1>" }, { until: /exit.code\W+0/ }),
    callTool("shell_exec_bg", {
      command: "sh",
      args: ["serve.sh"],
      cwd: "<base>",
      env: { PORT: "8080" },
      max_output_bytes: 1000,
    }),
    callTool("shell_fs_stat", { path: "<base>/ready" }, { until: /isError: false/ }),
    callTool("shell_status", { job_id: "<job 2>" }, { until: /listening on/ }),
    callTool("shell_list"),
    callTool("shell_kill", { job_id: "<job 2>" }),
    callTool("shell_status", { job_id: "<job 2>" }),
    callTool("shell_kill", { job_id: "<job 2>" }),
    callTool("shell_exec_bg", { command: "cat", stdin: "given\n" }),
    callTool("shell_status", { job_id: "job-none" }),
  ],
} satisfies AgentJob;
