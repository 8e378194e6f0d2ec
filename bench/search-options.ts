/** Compares searches with the later fields of `coder::search` with ripgrep under equivalent flags. */
import type { Comparison } from "./comparison.ts";
import {
  everyMatch,
  queryNamed,
  ripgrepInTree,
  type SearchTree,
  searchInTree,
  type TreeQuery,
} from "./searches.ts";

interface Option {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly flags: readonly string[];
  readonly queries: readonly Pick<TreeQuery, "name" | "query" | "regex">[];
}

const queries = ["common", "alternation"].map(queryNamed);

const options: readonly Option[] = [
  {
    name: "context of 2 lines",
    fields: { context_lines_before: 2, context_lines_after: 2 },
    flags: ["-C", "2"],
    queries,
  },
  { name: "files", fields: { mode: "files" }, flags: ["--files-with-matches"], queries },
  { name: "counts", fields: { mode: "counts" }, flags: ["--count"], queries },
  // ripgrep prints only the match, while ours returns the line too.
  { name: "every match", fields: { every_match: true }, flags: ["--only-matching"], queries },
  {
    name: "multiline",
    fields: { multiline: true },
    flags: ["--multiline"],
    queries: [
      ...["no match", "common", "ends with a literal", "alternation"].map(queryNamed),
      { name: "over two lines", query: "\\{\\n\\s+return \\w+;", regex: true },
      { name: "its literal in the second line", query: "\\w+\\s*\\n\\s*throw new", regex: true },
      { name: "over many lines", query: "export function [^{]*\\{[^}]*\\}", regex: true },
    ],
  },
];

/** Returns searches for all matches, each with one option. */
export const searchesByOption = (tree: SearchTree): Comparison[] =>
  options.flatMap(({ name, fields, flags, queries }) =>
    queries.map((query) => ({
      group: `search ${tree.name}, ${name}`,
      name: `${query.name}  ${query.query}`,
      ours: () => searchInTree(tree, query, { max_matches: everyMatch, ...fields }),
      peers: [
        {
          name: `rg -j2 ${flags.join(" ")}`,
          target: 1,
          run: () => ripgrepInTree(tree, query, ["-j2", ...flags]),
        },
      ],
    })),
  );
