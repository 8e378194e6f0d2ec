import { type AgentJob, callTool } from "../job.ts";

export default {
  title: "Names that are hard to write",
  about: "Work with names that have spaces, quotes, colons, other alphabets and line breaks in them.",
  tree: {
    "Meeting Notes (final).md": "total: 3\n",
    'it\'s "quoted".txt': "total: 4\n",
    "über/naïve.txt": "total: 5\n",
    "12:30.log.txt": "total: 6\n",
    "two\nlines.txt": "total: 7\n",
    "-rf": "total: 8\n",
    "back\\slash.txt": "total: 9\n",
    "Case.txt": "total: 10\n",
  },
  steps: [
    callTool("coder_list_folder"),
    callTool("coder_search", { query: "total" }),
    callTool("coder_read_file", { path: "case.txt" }),
    callTool("coder_read_file", { path: "u\u0308ber/nai\u0308ve.txt" }),
    callTool("coder_read_file", { path: "two\nlines.txt" }),
    callTool("coder_read_file", { path: '"Meeting Notes (final).md"' }),
    callTool("coder_move", { files: [{ from: "12:30.log.txt", to: "half past twelve.txt" }] }),
    callTool("coder_delete_file", { paths: ["-rf", "back\\slash.txt"] }),
    callTool("coder_create_file", { path: "a\0b", content: "" }),
  ],
} satisfies AgentJob;
