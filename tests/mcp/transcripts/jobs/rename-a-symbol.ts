import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const rename = (path: string, expect_matches?: number) => ({
  path,
  ops: [
    {
      op: "str_replace",
      old_str: "getUser",
      new_str: "findUser",
      replace_all: true,
      ...(expect_matches !== undefined && { expect_matches }),
    },
  ],
});

export default {
  title: "Rename a symbol over files",
  about: "Rename a function in code, tests and docs, with the number of places known beforehand.",
  tree: shop,
  steps: [
    callTool("coder_search", { query: "getUser", mode: "counts" }),
    callTool("coder_search", { query: "getUser", mode: "files", file_types: ["ts"] }),
    callTool("coder_update_file", {
      files: [rename("src/user.ts", 1), rename("src/orders.ts", 3), rename("docs/orders.md")],
    }),
    callTool("coder_update_file", { ...rename("src/orders.ts", 2), answer: "none" }),
    callTool("coder_search", { query: "getUser", mode: "content" }),
    callTool("coder_update_file", rename("src/orders.ts", 0)),
  ],
} satisfies AgentJob;
