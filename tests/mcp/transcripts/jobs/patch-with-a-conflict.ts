import { type AgentJob, callTool, others } from "../job.ts";
import { shop } from "../shop.ts";

const patch = (vat: string) => `*** Begin Patch
*** Update File: src/prices.ts
@@
-const vat = ${vat};
+const vat = 0.21;
 
*** Update File: README.md
@@ # Shop
 
-Run it with \`npm start\`. Prices are in cents.
+Run it with \`npm start\`. Prices are in cents, with 21 % VAT.
*** Add File: docs/vat.md
+# VAT
+
+It is 21 %.
*** End Patch
`;

export default {
  title: "A patch with a conflict",
  about: "Apply a patch over three files to a tree that another program has changed since it was read.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { path: "src/prices.ts", line_from: 1, line_to: 2 }),
    others({ "src/prices.ts": shop["src/prices.ts"].replace("0.19", "0.20") }),
    callTool("coder_apply_patch", { patch: patch("0.19") }),
    callTool("coder_apply_patch", { patch: patch("0.20"), dry_run: true }),
    callTool("coder_apply_patch", { patch: patch("0.20") }),
    callTool("coder_apply_patch", { patch: patch("0.20") }),
  ],
} satisfies AgentJob;
