import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Move, copy and make folders",
  about:
    "Reorganise a project: new folders, files under other names, a copy of a whole folder; and what stands in the way.",
  tree: { ...shop, "docs/old/": null, "docs/latest": { link: "orders.md" } },
  args: ["--tools", "all"],
  steps: [
    callTool("coder_make_folder", { paths: ["lib/core", "docs"], mode: "0750" }),
    callTool("coder_make_folder", { paths: ["x/y"], parents: false }),
    callTool("coder_make_folder", { paths: ["x/y"], dry_run: true }),
    callTool("coder_make_folder", { paths: ["README.md"] }),
    callTool("coder_move", { files: [{ from: "src/user.ts", to: "lib/core" }] }),
    callTool("coder_move", { files: [{ from: "src/user.ts", to: "lib/core/user.ts" }], dry_run: true }),
    callTool("coder_move", {
      files: [
        { from: "src/user.ts", to: "lib/core/user.ts" },
        { from: "src/none.ts", to: "lib/none.ts" },
        { from: "docs/orders.md", to: "README.md" },
      ],
    }),
    callTool("coder_move", {
      files: [{ from: "docs/orders.md", to: "README.md", overwrite: true, parents: false }],
    }),
    callTool("coder_copy", {
      files: [
        { from: "src", to: "backup/src" },
        { from: "docs/latest", to: "latest" },
      ],
    }),
    callTool("coder_copy", { files: [{ from: "src", to: "src/again" }], dry_run: true }),
    callTool("coder_copy", {
      files: [{ from: "package.json", to: "README.md", overwrite: true, parents: true }],
    }),
    callTool("coder_move", { files: [{ from: "src", to: "src/inside" }] }),
  ],
} satisfies AgentJob;
