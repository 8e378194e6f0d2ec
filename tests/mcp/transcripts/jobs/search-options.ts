import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Options of searches",
  about: "Count, invert, search for words and several patterns, and leave out files by what they are.",
  tree: shop,
  steps: [
    callTool("coder_search", { query: "total", mode: "counts" }),
    callTool("coder_search", { query: "user", whole_word: true, path: "src/orders.ts" }),
    callTool("coder_search", { patterns: ["getUser", "^export"], regex: true, exclude_file_types: ["md"] }),
    callTool("coder_search", { query: "  ", invert: true, path: "src/user.ts" }),
    callTool("coder_search", { query: "export", files_without_match: true, max_file_bytes: 400 }),
    callTool("coder_search", { search_content: false, sort: "path", path: "src" }),
    callTool("coder_search", { query: "getUser", sort: "modified", path: "docs" }),
  ],
} satisfies AgentJob;
