import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Find and read",
  about: "Find out where a function is declared, who calls it, and what the callers do with its result.",
  tree: shop,
  steps: [
    callTool("coder_tree"),
    callTool("coder_search", { query: "getUser" }),
    callTool("coder_read_file", { path: "src/user.ts", line_from: 6, line_to: 8, numbered: true }),
    callTool("coder_read_file", { paths: ["src/orders.ts", "test/orders.test.ts"] }),
    callTool("coder_search", { query: "getUsers", include_globs: ["src/**"] }),
    callTool("coder_read_file", {
      files: [
        { path: "src/user.ts", line_from: 6, line_to: 8 },
        { path: "test/orders.test.ts", tail: 2 },
      ],
    }),
    callTool("coder_read_file", { path: "src/users.ts" }),
    ...["path", "size", "lines"].map((sort) =>
      callTool("coder_read_file", { include_globs: ["*.ts"], stat: true, sort }),
    ),
    callTool("coder_read_file", { include_globs: ["docs/*.md"], stat: true, sort: "modified" }),
  ],
} satisfies AgentJob;
