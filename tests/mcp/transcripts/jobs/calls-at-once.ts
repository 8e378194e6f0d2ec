import { type AgentJob, atOnce, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Calls sent at once",
  about: "Create a file, edit it, read it and search for it in one turn, as clients send several calls.",
  tree: shop,
  steps: [
    atOnce(
      callTool("coder_create_file", { path: "src/cart.ts", content: "export const cart: number[] = [];\n" }),
      callTool("coder_update_file", {
        path: "src/cart.ts",
        ops: [{ op: "str_replace", old_str: "number", new_str: "string" }],
      }),
      callTool("coder_read_file", { path: "src/cart.ts" }),
      callTool("coder_search", { query: "const cart" }),
    ),
    atOnce(
      callTool("coder_move", { files: [{ from: "src/cart.ts", to: "src/basket.ts" }] }),
      callTool("coder_read_file", { path: "src/basket.ts" }),
      callTool("coder_delete_file", { paths: ["src/basket.ts"] }),
      callTool("coder_list_folder", { path: "src" }),
      callTool("coder_read_file", { path: "package.json" }),
    ),
  ],
} satisfies AgentJob;
