import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

export default {
  title: "Rename everywhere",
  about: "Rename a function in all files that use it, in one call, and take that back.",
  tree: shop,
  steps: [
    callTool("coder_replace", {
      query: "getUser",
      replacement: "loadUser",
      expect_matches: 3,
      expect_files: 2,
    }),
    callTool("coder_replace", { query: "getUser", replacement: "loadUser", label: "rename getUser" }),
    callTool("coder_replace", {
      query: "\\bloadUser\\((\\w+)",
      replacement: "findUser($1",
      regex: true,
      ignore_case: false,
      path: "src",
      file_types: ["ts"],
      include_globs: ["*.ts"],
      exclude_globs: ["prices.ts"],
      include_hidden: false,
      use_default_excludes: true,
      respect_gitignore: true,
      answer: "diff",
      dry_run: true,
    }),
    callTool("coder_commit", { plan: "<plan 1>" }),
    callTool("coder_replace", { query: "Ada", replacement: "Bea", whole_word: true, answer: "none" }),
    callTool("coder_replace", { query: "nowhere", replacement: "", answer: "echo" }),
    callTool("coder_undo", { seq: 1 }),
  ],
} satisfies AgentJob;
