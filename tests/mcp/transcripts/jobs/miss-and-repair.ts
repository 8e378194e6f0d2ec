import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const total = (old_str: string, new_str: string) => ({
  path: "src/prices.ts",
  ops: [{ op: "str_replace", old_str, new_str }],
});

export default {
  title: "An edit that misses, and its repair",
  about: "Edit a line that was remembered wrongly, and correct the edit from the error alone.",
  tree: shop,
  steps: [
    callTool(
      "coder_update_file",
      total(
        "return items.reduce((sum, it) => sum + it, 0);",
        "return items.reduce((sum, it) => sum + it, 1);",
      ),
    ),
    callTool(
      "coder_update_file",
      total("(sum, item) => sum + item, 0", "(sum, item) => sum + Math.max(item, 0), 0"),
    ),
    callTool("coder_update_file", total("number", "bigint")),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      ops: [{ op: "str_replace", old_str: "net: number", new_str: "net: bigint" }],
      dry_run: true,
      answer: "diff",
    }),
  ],
} satisfies AgentJob;
