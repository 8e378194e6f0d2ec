import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Find files by their names",
  about: "Find a file of which only a part of the name is known, list files of a kind, and find nothing.",
  tree: { ...shop, "src/orders/": null, "src/orders/order-table.ts": "", "docs/Order Form.md": "" },
  steps: [
    callTool("coder_search", { query: "order", search_content: false }),
    callTool("coder_search", { query: "ortab", fuzzy_paths: true, search_content: false }),
    callTool("coder_search", { query: "", search_content: false, include_globs: ["**/*.md"] }),
    callTool("coder_search", { query: "order.form", regex: true, ignore_case: true, search_content: false }),
    callTool("coder_search", { query: "invoice", search_content: false }),
    callTool("coder_search", { query: "getUser", search_content: false, search_paths: false }),
  ],
} satisfies AgentJob;
