import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const scope = { root: "src", boundary: ".", grants: [{ path: "src" }, { path: "docs", read_only: true }] };

export default {
  title: "A client that limits each call",
  about:
    "A client confines an agent to a part of the tree, of which it may only read some, by a field that models are not shown.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { path: "user.ts", line_to: 1, fs_scope: scope }),
    callTool("coder_read_file", { path: "../package.json", fs_scope: scope }),
    callTool("coder_search", { query: "getUser", path: "..", fs_scope: scope }),
    callTool("coder_create_file", { path: "cart.ts", content: "", fs_scope: scope }),
    callTool("coder_create_file", { path: "../docs/cart.md", content: "", fs_scope: scope }),
    callTool("coder_info", { fs_scope: scope }),
  ],
} satisfies AgentJob;
