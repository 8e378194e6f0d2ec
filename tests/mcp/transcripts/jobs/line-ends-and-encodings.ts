import { type AgentJob, callTool } from "../job.ts";

const replace = (path: string, old_str: string, new_str: string) =>
  callTool("coder_update_file", { path, ops: [{ op: "str_replace", old_str, new_str }] });

export default {
  title: "Line ends and encodings",
  about:
    "Edit files with CRLF, without a line end at the end, with a byte order mark, in UTF-16 and in Latin-1.",
  tree: {
    "setup.cmd": "@echo off\r\nset PORT=3000\r\nif prod (\r\n\tset PORT=3000\r\n)\r\n",
    "mixed.txt": "one\r\ntwo\nthree",
    "bom.txt": "\ufeffname = shop\nport = 80\n",
    "utf16.txt": Buffer.from("\ufeffname = shop\nport = 80\n", "utf16le"),
    "latin1.txt": Buffer.from("caf\xe9\nprice = 3\n", "latin1"),
  },
  steps: [
    callTool("coder_read_file", { path: "setup.cmd" }),
    replace("setup.cmd", "if prod (\n\tset PORT=3000", "if prod (\n\tset PORT=4000"),
    callTool("coder_update_file", {
      path: "setup.cmd",
      ops: [{ op: "replace", pattern: "PORT=(.+)", replacement: "PORT=<$1>" }],
      answer: "diff",
    }),
    callTool("coder_read_file", { path: "mixed.txt" }),
    callTool("coder_update_file", {
      path: "mixed.txt",
      ops: [{ op: "insert", at_line: 4, content: "four" }],
    }),
    callTool("coder_search", { query: "^name", regex: true }),
    callTool("coder_search", { query: "port" }),
    callTool("coder_read_file", { path: "utf16.txt" }),
    replace("utf16.txt", "port = 80", "port = 81"),
    callTool("coder_read_file", { path: "latin1.txt" }),
    replace("latin1.txt", "price = 3", "price = 3 €"),
    callTool("coder_update_file", {
      path: "latin1.txt",
      encoding: "windows-1252",
      ops: [{ op: "str_replace", old_str: "price = 3", new_str: "price = 3 €" }],
    }),
    callTool("coder_search", { query: "café", path: "latin1.txt", encoding: "windows-1252" }),
    callTool("coder_search", { query: "thé", path: "latin1.txt" }),
    callTool("coder_replace", { query: "café", replacement: "thé", encoding: "windows-1252" }),
    callTool("coder_replace", { query: "name = shop", replacement: "name = store" }),
    callTool("coder_create_file", { path: "utf16.txt", content: "port = 82\n", overwrite: true }),
    callTool("coder_read_file", { path: "bom.txt", stat: true }),
    callTool("coder_checkpoints", { path: "latin1.txt", limit: 1, answer: "diff" }),
    callTool("coder_checkpoints", {
      path: "latin1.txt",
      limit: 1,
      answer: "diff",
      encoding: "windows-1252",
    }),
    callTool("coder_changes", { path: "latin1.txt", answer: "diff", encoding: "windows-1252" }),
  ],
} satisfies AgentJob;
