import { gone } from "../../../harness/tree.ts";
import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "What has changed since",
  about: "Follow what calls and another program do to the tree, and read only what is new.",
  tree: shop,
  steps: [
    callTool("coder_changes"),
    callTool("coder_update_file", {
      path: "README.md",
      ops: [{ op: "str_replace", old_str: "cents", new_str: "euros" }],
    }),
    callTool("coder_move", { files: [{ from: "src/user.ts", to: "src/person.ts" }] }),
    callTool("coder_changes", { since: "<position 1>" }),
    others({ "src/new.ts": "export {};\n" }),
    callTool("coder_changes", { since: "<position 2>" }, { until: /src\/new\.ts/ }),
    others({ "docs/orders.md": gone }),
    callTool("coder_changes", { since: "<position 1>", path: "docs" }, { until: /docs\/orders\.md/ }),
    callTool("coder_changes", { since: "<position 1>", limit: 1 }),
    callTool("coder_changes"),
    callTool("coder_changes", { since: "yesterday" }),
  ],
} satisfies AgentJob;
