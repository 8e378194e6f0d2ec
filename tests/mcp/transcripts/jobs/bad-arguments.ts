import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Arguments as models send them",
  about:
    "Calls with misspelt, missing, quoted and empty fields, and with the names that other tools have for them.",
  tree: shop,
  steps: [
    callTool("coder_update_file", {
      path: "README.md",
      ops: [{ op: "str_replace", old_str: "Shop", new_str: "Store" }],
      dryRun: true,
    }),
    callTool("coder_update_file", { path: "README.md", old_str: "Shop", new_str: "Store" }),
    callTool("coder_update_file", {
      file_path: "README.md",
      ops: [{ old_string: "Store", new_string: "Shop" }],
    }),
    callTool("coder_update_file", {
      path: "README.md",
      ops: '[{"op": "str_replace", "old_str": "Run it", "new_str": "Start it"}]',
    }),
    callTool("coder_read_file", { path: "README.md", line_from: "1", numbered: "true" }),
    callTool("coder_read_file", { path: "README.md", offset: 2, limit: 1 }),
    callTool("coder_read_file", { paths: "README.md" }),
    callTool("coder_read_file", { paths: '["README.md", "package.json"]' }),
    callTool("coder_read_file", { path: null }),
    callTool("coder_read_file"),
    callTool("coder_read_file", { path: "./README.md:1" }),
    callTool("coder_read_file", { path: "<base>/README.md", line_to: 1 }),
    callTool("coder_create_file", { path: "~/notes.txt", content: "notes\n" }),
    callTool("coder_create_file", { path: "notes.txt" }),
    callTool("coder_search", { query: "Shop", cursor: "", max_matches: 0, include_globs: [] }),
    callTool("coder_search", { pattern: "Shop", glob: "*.md" }),
    callTool("coder_search", { query: "Shop", mode: "count" }),
    callTool("coder_transact", { changes: { op: "delete", path: "docs/orders.md" }, dry_run: "yes" }),
    callTool("coder_write_file", { path: "notes.txt", content: "notes\n" }),
  ],
} satisfies AgentJob;
