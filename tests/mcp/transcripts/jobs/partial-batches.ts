import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Batches that fail in part",
  about: "Read, create, edit and delete several files in a call each, of which some fail.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { paths: ["package.json", "src/none.ts", "docs"] }),
    callTool("coder_create_file", {
      files: [
        { path: "src/cart.ts", content: "export const cart = [];\n" },
        { path: "README.md", content: "# New\n" },
        { path: "deep/er/file.ts", content: "", parents: false },
      ],
      dry_run: true,
    }),
    callTool("coder_create_file", {
      files: [
        { path: "src/cart.ts", content: "export const cart = [];\n" },
        { path: "README.md", content: "# New\n" },
      ],
    }),
    callTool("coder_update_file", {
      files: [
        { path: "src/user.ts", ops: [{ op: "str_replace", old_str: "Ada", new_str: "Grace" }] },
        { path: "src/orders.ts", ops: [{ op: "str_replace", old_str: "Ada", new_str: "Grace" }] },
        { path: "test/orders.test.ts", ops: [{ op: "str_replace", old_str: "Ada", new_str: "Grace" }] },
      ],
    }),
    callTool("coder_delete_file", { paths: ["src/cart.ts", "src/none.ts", "docs"] }),
  ],
} satisfies AgentJob;
