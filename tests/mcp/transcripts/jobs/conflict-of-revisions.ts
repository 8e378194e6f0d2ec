import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

const absent = "absent";

export default {
  title: "A file that changed since it was read",
  about: "Change files only as they were read: edit, overwrite, move, copy and delete with a revision.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { path: "src/prices.ts", revision: true, line_from: 1, line_to: 1 }),
    others({ "src/prices.ts": shop["src/prices.ts"].replace("0.19", "0.20") }),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      expected_revision: "<revision 1>",
      ops: [{ op: "update_lines", from_line: 1, to_line: 1, content: "const vat = 0.21;\n" }],
    }),
    callTool("coder_update_file", {
      path: "src/prices.ts",
      expected_revision: "<revision 2>",
      ops: [{ op: "update_lines", from_line: 1, to_line: 1, content: "const vat = 0.21;\n" }],
    }),
    callTool("coder_create_file", {
      path: "src/prices.ts",
      content: "export const vat = 0.21;\n",
      overwrite: true,
      expected_revision: "<revision 1>",
    }),
    callTool("coder_create_file", {
      path: "src/vat.ts",
      content: "export const vat = 0.21;\n",
      expected_revision: absent,
    }),
    callTool("coder_create_file", {
      path: "src/vat.ts",
      content: "",
      overwrite: true,
      expected_revision: absent,
    }),
    callTool("coder_move", {
      files: [{ from: "src/prices.ts", to: "src/money.ts", expected_revision: "<revision 1>" }],
    }),
    callTool("coder_copy", {
      files: [{ from: "src/prices.ts", to: "src/money.ts", expected_revision: "<revision 1>" }],
    }),
    callTool("coder_delete_file", {
      paths: ["src/prices.ts"],
      expected_revisions: { "src/prices.ts": "<revision 1>" },
    }),
    callTool("coder_transact", {
      changes: [
        {
          op: "update",
          path: "src/prices.ts",
          expected_revision: "<revision 1>",
          ops: [{ op: "str_replace", old_str: "0.21", new_str: "0.22" }],
        },
        { op: "create", path: "src/vat.ts", content: "", overwrite: true, expected_revision: "<revision 1>" },
        { op: "copy", from: "src/prices.ts", to: "b.ts", expected_revision: "<revision 1>" },
        { op: "delete", path: "src/prices.ts", expected_revision: "<revision 1>" },
      ],
    }),
  ],
} satisfies AgentJob;
