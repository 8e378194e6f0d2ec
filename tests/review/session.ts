import type { Tree } from "../harness/tree.ts";
import type { Agent } from "./fixture.ts";

/** A small project with three files. */
export const sessionTree: Tree = {
  "README.md": "# Tea timer\n\nA small project.\n",
  "notes/todo.md": "# To do\n\n- [ ] a white tea\n- [ ] ring a bell\n",
  "src/timer.js": "export function minutes(tea) {\n  return tea === 'green' ? 2 : 4;\n}\n",
};

/** Makes five checkpoints in that project: edits, a new file, a move with another change, and a deletion. */
export async function makeSession(agent: Agent): Promise<void> {
  const calls: [string, Record<string, unknown>][] = [
    [
      "coder_update_file",
      { path: "README.md", ops: [{ op: "str_replace", old_str: "small", new_str: "useful" }] },
    ],
    [
      "coder_create_file",
      {
        path: "src/tax.ts",
        content:
          "/** Adds the tax of a country. */\nexport function withTax(price: number, rate = 0.19): number {\n  return price * (1 + rate);\n}\n",
      },
    ],
    [
      "coder_update_file",
      { path: "src/tax.ts", ops: [{ op: "str_replace", old_str: "0.19", new_str: "0.2" }] },
    ],
    [
      "coder_transact",
      {
        label: "Rename tax to VAT",
        changes: [
          { op: "move", from: "src/tax.ts", to: "src/vat.ts" },
          { op: "create", path: "src/index.ts", content: 'export * from "./vat.ts";\n' },
        ],
      },
    ],
    ["coder_delete_file", { paths: ["notes"], recursive: true }],
  ];
  for (const [tool, args] of calls) await agent.call(tool, args);
}
