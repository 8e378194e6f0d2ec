import { type AgentJob, callTool } from "../job.ts";
import { shop } from "../shop.ts";

const update = (...ops: readonly Readonly<Record<string, unknown>>[]) =>
  callTool("coder_update_file", { path: "src/prices.ts", ops });

export default {
  title: "Regular expressions over lines",
  about:
    "Find a pattern that spans lines, and edit by patterns with groups; the slips of people who know other dialects included.",
  tree: shop,
  steps: [
    callTool("coder_search", { query: "\\{\n  return", regex: true }),
    callTool("coder_search", {
      query: "\\{\n\\s+return \\w+",
      regex: true,
      multiline: true,
      file_types: ["ts"],
    }),
    callTool("coder_search", { query: "item", every_match: true, include_globs: ["src/prices.ts"] }),
    callTool("coder_search", { query: "(unclosed", regex: true }),
    callTool("coder_search", { query: "(?<=const )vat", regex: true }),
    update({ op: "replace", pattern: "(\\w+): number\\b", replacement: "$1: Cents" }),
    update({
      op: "replace",
      pattern: "reduce\\(.*?\\);",
      replacement: "length;",
      dot_matches_newline: true,
      expect_matches: 2,
    }),
    update({ op: "replace", pattern: "^export function", replacement: "function" }),
    update({
      op: "replace",
      pattern: "(?m)^export function (\\w+)",
      replacement: "export const \\1 = function",
    }),
    update({ op: "replace", pattern: "NUMBER", replacement: "Cents", ignore_case: true }),
  ],
} satisfies AgentJob;
