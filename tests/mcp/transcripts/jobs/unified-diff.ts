import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const diff = `diff --git a/prices.ts b/prices.ts
--- a/prices.ts
+++ b/prices.ts
@@ -1,3 +1,3 @@
-const vat = 0.19;
+const vat = 0.21;
 
 export function total(items: number[]): number {
diff --git a/user.ts b/person.ts
similarity index 90%
rename from user.ts
rename to person.ts
--- a/user.ts
+++ b/person.ts
@@ -9,3 +9,3 @@
 export function getUser(id: string): User {
-  return { id, name: "Ada" };
+  return { id, name: "Grace" };
 }
diff --git a/bin.sh b/bin.sh
new file mode 100755
--- /dev/null
+++ b/bin.sh
@@ -0,0 +1 @@
+echo shop
`;

export default {
  title: "Apply a diff of git",
  about:
    "Apply what `git diff` printed in a subfolder, with a rename, a new executable file and hunks that moved.",
  tree: shop,
  steps: [
    callTool("coder_read_file", { path: "src/prices.ts", revision: true, line_to: 1 }),
    callTool("coder_apply_patch", {
      patch: diff,
      base_dir: "src",
      format: "unified",
      expected_revisions: { "prices.ts": "<revision 1>", "bin.sh": "absent" },
      dry_run: true,
    }),
    callTool("coder_commit", { plan: "<plan 1>" }),
    callTool("coder_read_file", { paths: ["src/bin.sh", "src/person.ts"], stat: true }),
    callTool("coder_apply_patch", {
      patch:
        '*** Begin Patch\n*** Delete File: README.md\n*** Update File: src/orders.ts\n*** Move to: src/order.ts\n@@\n-import { getUser } from "./user.ts";\n+import { getUser } from "./person.ts";\n*** End Patch',
      format: "v4a",
    }),
    callTool("coder_apply_patch", { patch: "just do it", format: "auto" }),
    callTool("coder_apply_patch", {
      patch: "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Shop\n+# Store\n",
    }),
  ],
} satisfies AgentJob;
