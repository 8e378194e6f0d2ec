import { type AgentJob, callTool } from "../job.ts";

const edit = callTool("coder_update_file", {
  path: "app.ts",
  ops: [{ op: "str_replace", old_str: "retries = 3", new_str: "retries = 5" }],
});

const replace = (old_str: string, new_str: string) =>
  callTool("coder_update_file", { path: "app.ts", ops: [{ op: "str_replace", old_str, new_str }] });

export default {
  title: "An edit sent twice, and texts that only look the same",
  about:
    "Send an edit again after a timeout, and copy text whose spaces, letters and indentation differ invisibly.",
  tree: {
    "app.ts":
      "const retries = 3;\nconst name\u00a0= 'cafe\u0301';\n\tif (retries) {\n\t\tgo();\n\t}\nconst \u0430 = 1;\nconst z\u200b = 2;\n",
  },
  steps: [
    edit,
    edit,
    replace("const name = 'x'", "const name = 'y'"),
    replace("'caf\u00e9'", "'tea'"),
    replace("    if (retries) {\n        go();\n    }", "    if (retries) go();"),
    replace("const a = 1", "const b = 1"),
    replace("const z = 2", "const z = 3"),
    replace("nothing of the kind", "something"),
    replace("", "x"),
    replace("retries = 5", "retries = 5"),
  ],
} satisfies AgentJob;
