import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "A server that only reads",
  about: "Answer a question about a project in which nothing may be changed, and try a change all the same.",
  tree: shop,
  showsInstructions: true,
  args: ["--read-only"],
  steps: [
    callTool("coder_search", { query: "vat" }),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      ops: [{ op: "str_replace", old_str: "0.19", new_str: "0.21" }],
    }),
    callTool("coder_info"),
  ],
} satisfies AgentJob;
