import { type AgentJob, callTool } from "../job.ts";

const file = (name: string) =>
  Array.from({ length: 40 }, (_, index) => `${name} line ${index} calls log()\n`).join("");

export default {
  title: "More matches than fit",
  about: "Go through the many matches of a common word in pages, and stop where the answer is enough.",
  tree: {
    "a.txt": file("a"),
    "b.txt": file("b"),
    "c.min.js": `${"var a=1;".repeat(80)}log();${"var b=2;".repeat(80)}\n`,
  },
  steps: [
    callTool("coder_search", { query: "log()", max_matches: 3 }),
    callTool("coder_search", { query: "log()", max_matches: 3, cursor: "<cursor 1>" }),
    callTool("coder_search", { query: "log(", max_matches: 3, cursor: "<cursor 1>" }),
    callTool("coder_search", { query: "log()", max_bytes: 1000, include_globs: ["b.txt"] }),
    callTool("coder_search", { query: "log()", include_globs: ["c.min.js"] }),
    callTool("coder_search", { query: "log()", include_globs: ["c.min.js"], max_line_bytes: 60 }),
    callTool("coder_search", { query: "line 39", deadline_ms: 20_000 }),
    callTool("coder_search", { query: "log()", mode: "counts" }),
  ],
} satisfies AgentJob;
