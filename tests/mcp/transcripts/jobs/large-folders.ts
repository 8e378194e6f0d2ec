import { type AgentJob, callTool } from "../job.ts";

const pages = Object.fromEntries(
  Array.from({ length: 120 }, (_, index) => [`site/pages/page-${index + 1}.html`, "<p>\n"]),
);

export default {
  title: "Folders with many files",
  about: "See what a site holds without reading the names of all its pages.",
  tree: {
    ...pages,
    "site/assets/img/logo/large/logo.svg": "<svg/>\n",
    "site/index.html": "<p>\n",
    "build.sh": "",
  },
  steps: [
    callTool("coder_tree"),
    callTool("coder_tree", { max_nodes: 8 }),
    callTool("coder_tree", { max_bytes: 400 }),
    callTool("coder_tree", { max_depth: 2, per_folder_limit: 3 }),
    callTool("coder_list_folder", { path: "site/pages", page_size: 3 }),
    callTool("coder_list_folder", { path: "site/pages", page: 40, page_size: 3 }),
    callTool("coder_list_folder", { path: "site/pages", page: 41, page_size: 3 }),
    callTool("coder_list_folder", { path: "site/index.html" }),
    callTool("coder_tree", { path: "site/none" }),
  ],
} satisfies AgentJob;
