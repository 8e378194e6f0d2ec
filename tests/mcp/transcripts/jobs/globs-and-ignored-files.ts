import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Globs and ignored files",
  about: "Limit searches to parts of the tree as people write it, and look into what is left out by default.",
  tree: {
    ...shop,
    "node_modules/left-pad/index.js": "module.exports = total;\n",
    "dist/shop.js": "function total() {}\n",
    "debug.log": "total 12\n",
    ".config/rules.json": '{"total": true}\n',
  },
  steps: [
    callTool("coder_search", { query: "total" }),
    callTool("coder_search", { query: "total", exclude_globs: ["test", "src/"] }),
    callTool("coder_search", { query: "total", include_globs: ["*.ts"] }),
    callTool("coder_search", { query: "total", include_globs: ["/src/**", "!src/prices.ts"] }),
    callTool("coder_search", { query: "total", file_types: ["md"] }),
    callTool("coder_search", { query: "total", file_types: ["cobalt"] }),
    callTool("coder_search", { query: "total", respect_gitignore: false, mode: "files" }),
    callTool("coder_search", { query: "total", use_default_excludes: false, mode: "files" }),
    callTool("coder_search", { query: "total", path: "node_modules" }),
    callTool("coder_search", { query: "total", include_hidden: false, mode: "files" }),
    callTool("coder_search", { query: "total", include_globs: ["lib/**"] }),
    callTool("coder_tree", { include_hidden: false, respect_gitignore: false, use_default_excludes: false }),
  ],
} satisfies AgentJob;
