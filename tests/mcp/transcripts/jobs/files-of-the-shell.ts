import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Files by the tools of the shell worker",
  about: "List, find, change, move and remove files with absolute paths.",
  tree: { ...shop, "old/menu.txt": Buffer.from("caf\xe9\n", "latin1") },
  worker: "shell",
  args: ["--tools", "all"],
  steps: [
    callTool("shell_fs_ls", { path: "<base>" }),
    callTool("shell_fs_stat", { path: "<base>/README.md" }),
    callTool("shell_fs_grep", { path: "<base>", pattern: "getUser", include_glob: ["*.ts"] }),
    callTool("shell_fs_sed", {
      files: ["<base>/README.md", "<base>/none.md"],
      pattern: "npm (\\w+)",
      replacement: "bun $1",
    }),
    callTool("shell_fs_sed", { path: "<base>/src", pattern: "Ada", replacement: "Grace", regex: false }),
    callTool("shell_fs_grep", { path: "old", pattern: "café", encoding: "windows-1252" }),
    callTool("shell_fs_sed", {
      files: ["<base>/old/menu.txt"],
      pattern: "café",
      replacement: "thé",
      encoding: "windows-1252",
    }),
    callTool("shell_fs_mkdir", { path: "<base>/lib/core", parents: true }),
    callTool("shell_fs_mv", { src: "<base>/src/user.ts", dst: "<base>/lib/core/user.ts" }),
    callTool("shell_fs_chmod", { path: "<base>/lib/core/user.ts", mode: "0755" }),
    callTool("shell_fs_rm", { path: "<base>/docs" }),
    callTool("shell_fs_rm", { path: "<base>/docs", recursive: true }),
    callTool("shell_fs_ls", { path: "src", page: 1, page_size: 1 }),
    callTool("shell_fs_stat", { path: "/etc/passwd" }),
  ],
} satisfies AgentJob;
