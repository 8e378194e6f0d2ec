import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

/** The output of `diff -ruN` for two folders. */
const ofFolders = `diff -ruN shop-1.0/src/prices.ts shop-1.1/src/prices.ts
--- shop-1.0/src/prices.ts\t2026-03-01 10:00:00.000000000 +0000
+++ shop-1.1/src/prices.ts\t2026-03-02 10:00:00.000000000 +0000
@@ -1,3 +1,3 @@
-const vat = 0.19;
+const vat = 0.21;
 
 export function total(items: number[]): number {
diff -ruN shop-1.0/src/rates.ts shop-1.1/src/rates.ts
--- shop-1.0/src/rates.ts\t1970-01-01 00:00:00.000000000 +0000
+++ shop-1.1/src/rates.ts\t2026-03-02 10:00:00.000000000 +0000
@@ -0,0 +1 @@
+export const rates = [0.07, 0.21];
`;

const update = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

export default {
  title: "Apply the patches of others",
  about:
    "Apply what `diff -ruN` printed of two folders, from a file; send it again; take it back; and give hunks that are indented otherwise, have lines with CRLF, UTF-16 and Latin-1, or replace a file.",
  tree: {
    ...shop,
    "fixes/vat.patch": ofFolders,
    "menu.py": "class Menu:\n    def show(self):\n        draw()\n        wait()\n",
    "terms.txt": "one\r\ntwo\r\n",
    "size.txt": Buffer.from("Größe: 10 cm\n", "latin1"),
    "label.txt": Buffer.from("\ufeffvat: 19\nend\n", "utf16le"),
  },
  steps: [
    callTool("coder_apply_patch", { patch_path: "fixes/vat.patch" }),
    callTool("coder_apply_patch", { patch_path: "fixes/vat.patch" }),
    callTool("coder_apply_patch", { patch_path: "fixes/vat.patch", reverse: true, dry_run: true }),
    callTool("coder_apply_patch", {
      patch:
        "--- a/old/shop/src/prices.ts\n+++ b/new/shop/src/prices.ts\n@@ -1 +1 @@\n-const vat = 0.21;\n+const vat = 0.22;\n",
      strip: 3,
    }),
    callTool("coder_apply_patch", {
      patch: update(
        "*** Update File: menu.py",
        "@@",
        " def show(self):",
        "     draw()",
        "+    play()",
        "*** Update File: terms.txt",
        "-two",
        "+2",
        "*** Update File: label.txt",
        "-vat: 19",
        "+vat: 21 €",
      ),
    }),
    callTool("coder_apply_patch", {
      patch: update("*** Update File: size.txt", "-Größe: 10 cm", "+Größe: 20 cm"),
      encoding: "windows-1252",
    }),
    callTool("coder_apply_patch", { patch: update("*** Add File: README.md", "+# Store") }),
    callTool("coder_apply_patch", { patch: update("*** Add File: README.md", "+# Store"), overwrite: true }),
    callTool("coder_read_file", { paths: ["label.txt", "menu.py", "README.md"] }),
  ],
} satisfies AgentJob;
