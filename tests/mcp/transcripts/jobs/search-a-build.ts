import { type AgentJob, callTool } from "../job.ts";

export default {
  title: "Search the output of a build",
  about:
    "A build writes 20 MB and fails. One call finds its error, and its output is there to be read in parts.",
  tree: {
    "build.sh": [
      "awk 'BEGIN { for (i = 1; i <= 330000; i++) {",
      '  print "[" i "/330000] compiling src/module-" i ".c with all warnings on"',
      '  if (i == 200000) print "src/module-200000.c:12: error: no such field"',
      "} }'",
      "exit 1",
      "",
    ].join("\n"),
  },
  worker: "shell",
  config: { allowlist: ["sh"], max_timeout_ms: 60_000 },
  steps: [
    callTool("shell_exec", { command: "sh build.sh", timeout_ms: 60_000, max_output_bytes: 400 }),
    callTool("shell_status", { job_id: "job-1", grep: "error:" }),
    callTool("shell_status", { job_id: "job-1", since: 200_000, max_output_bytes: 300 }),
    callTool("shell_status", { job_id: "job-1", tail_lines: 2 }),
    callTool("shell_status", { job_id: "job-1", since: 1, max_output_bytes: 6 }),
    callTool("shell_status", { job_id: "job-1", since: 1, since_byte: 6, max_output_bytes: 100 }),
    callTool("shell_status", { job_id: "job-1", grep: "module-9999.\\.c", tail_lines: 3 }),
    callTool("shell_status", { job_id: "job-1", grep: "warning:" }),
    callTool("shell_status", { job_id: "job-1", grep: "(" }),
  ],
} satisfies AgentJob;
