/** Repeated searches with an index, and the first one, against ripgrep and against searches without. */
import type { Comparison } from "./comparison.ts";
import { openInProcess } from "./in-process.ts";
import { everyMatch, queryNamed, ripgrepInTree, type SearchTree, searchInTree } from "./searches.ts";

const rare = ["no match", "rare", "any case", "any case, with s"].map(queryNamed);
/** Most files match, and so are read. */
const common = ["common", "ends with a literal", "alternation"].map(queryNamed);

/** A tree with a worker that has an index of it. */
export async function openIndexedTree(tree: SearchTree): Promise<SearchTree & AsyncDisposable> {
  const local = await openInProcess(tree.folder, { index: "verified" });
  const indexed = { ...tree, local, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
  await searchInTree(indexed, queryNamed("no match"), {});
  await local.indexed();
  return indexed;
}

/** `indexed` and `tree` are of the same files. */
export function searchesWithIndex(indexed: SearchTree, tree: SearchTree): Comparison[] {
  const group = `search ${tree.name}, with an index`;
  const all = { max_matches: everyMatch };
  const repeated = [...rare, ...common].map((query) => ({
    group,
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(indexed, query, all),
    peers: [
      {
        name: "rg -j2",
        ...(rare.includes(query) && { target: 0.5 }),
        run: () => ripgrepInTree(tree, query, ["-j2"]),
      },
      { name: "ours without it", target: 1.05, run: () => searchInTree(tree, query, all) },
    ],
  }));
  const first = {
    group,
    name: "the first search",
    ours: () => searchOnce(tree, "verified"),
    peers: [{ name: "ours without it", target: 1.1, run: () => searchOnce(tree, "off") }],
  };
  return [...repeated, first];
}

async function searchOnce(tree: SearchTree, index: string): Promise<void> {
  await using local = await openInProcess(tree.folder, { index });
  await searchInTree({ ...tree, local }, queryNamed("no match"), {});
}
