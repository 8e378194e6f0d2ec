import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const log = Array.from({ length: 5000 }, (_, index) =>
  index === 3210 ? "ERROR: disk full" : `12:00:${index % 60} request ${index} took ${(index * 7) % 90} ms`,
).join("\n");

export default {
  title: "Parts of a large file",
  about: "Find the error in a log of 5,000 lines, and read the lines around it and the end of the file.",
  tree: { ...shop, "server.txt": `${log}\n`, "long-line.json": `{"data":"${"x".repeat(140_000)}"}\n` },
  steps: [
    callTool("coder_read_file", { path: "server.txt" }),
    callTool("coder_search", {
      query: "ERROR",
      path: ".",
      include_globs: ["server.txt"],
      context_lines_before: 2,
      context_lines_after: 1,
    }),
    callTool("coder_read_file", { path: "server.txt", line_from: 3209, line_to: 3212, numbered: true }),
    callTool("coder_read_file", { path: "server.txt", tail: 2 }),
    callTool("coder_read_file", { path: "server.txt", line_from: 4999, line_to: 6000 }),
    callTool("coder_read_file", { path: "server.txt", line_from: 5001 }),
    callTool("coder_read_file", { path: "server.txt", line_from: 10, line_to: 5 }),
    callTool("coder_read_file", { path: "server.txt", max_output_bytes: 1000 }),
    callTool("coder_read_file", { path: "long-line.json" }),
    callTool("coder_search", { query: "ERROR", path: "server.txt" }),
    callTool("coder_search", { query: '"data"', include_globs: ["*.json"] }),
  ],
} satisfies AgentJob;
