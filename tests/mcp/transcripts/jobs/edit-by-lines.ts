import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const update = (...ops: readonly Readonly<Record<string, unknown>>[]) =>
  callTool("coder_update_file", { path: "src/prices.ts", ops });

export default {
  title: "Edit by line numbers",
  about: "Edit lines by the numbers of a numbered read, with the slips that come of copying them.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { path: "src/prices.ts", numbered: true }),
    update(
      { op: "insert", at_line: 1, content: "/** The rate of 2021. */\n" },
      { op: "update_lines", from_line: 4, to_line: 4, content: "  return items.length;\n" },
      { op: "remove", from_line: 6, to_line: 6 },
      { op: "insert", at_line: 10, content: "export const free = 0;\n" },
    ),
    update({ op: "update_lines", from_line: 12, to_line: 14, content: "" }),
    update({
      op: "update_lines",
      from_line: 1,
      to_line: 2,
      content: "1→/** The rate. */\n2→const vat = 0.21;\n",
    }),
    update({ op: "str_replace", old_str: "5→  return items.length;\n6→}", new_str: "  return 0;\n}" }),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      ops: [{ op: "remove", from_line: 1, to_line: 1 }],
      dry_run: true,
      answer: "bodies",
    }),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      ops: [{ op: "remove", from_line: 1, to_line: 1 }],
      dry_run: true,
      answer: "echo",
    }),
  ],
} satisfies AgentJob;
