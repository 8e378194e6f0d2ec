import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Every kind of change in one transaction",
  about: "Turn a module into a folder with a command, its template and its tests, in one call.",
  tree: { ...shop, "templates/": null, "templates/bill.txt": "Bill\n\nTotal: TOTAL\n" },
  steps: [
    callTool("coder_read_file", { path: "src/prices.ts", stat: true }),
    callTool("coder_transact", {
      label: "prices as a command",
      answer: "echo",
      changes: [
        { op: "make-folder", path: "bin/data", parents: true, mode: "0750" },
        { op: "move", from: "src/prices.ts", to: "bin/prices.ts", expected_revision: "<revision 1>" },
        { op: "copy", from: "templates/bill.txt", to: "bin/data/bill.txt", parents: false, overwrite: false },
        {
          op: "update",
          path: "bin/prices.ts",
          ops: [
            { op: "insert", at_line: 1, content: "#!/usr/bin/env bun\n" },
            { op: "update_lines", from_line: 2, to_line: 2, content: "\n/** In cents. */\n" },
            { op: "remove", from_line: 6, to_line: 6 },
            { op: "str_replace", old_str: "number", new_str: "Cents", replace_all: true, expect_matches: 4 },
            {
              op: "replace",
              pattern: "function gross\\(.*\\}",
              replacement: "const gross = (net: Cents): Cents => Math.round(net * (1 + vat));",
              dot_matches_newline: true,
              ignore_case: true,
              expect_matches: 1,
            },
          ],
        },
        { op: "chmod", path: "bin/prices.ts", mode: "0755" },
        { op: "create", path: "docs/orders.md", content: "# Orders\n", overwrite: true, mode: "0600" },
        { op: "delete", path: "templates", recursive: true },
      ],
    }),
    callTool("coder_read_file", { paths: ["bin/prices.ts", "docs/orders.md"], stat: true }),
    callTool("coder_checkpoints", { limit: 1 }),
  ],
} satisfies AgentJob;
