/** Compares repeated searches with an index, and the first one, with ripgrep and with unindexed searches. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Comparison, ExternalCost } from "./comparison.ts";
import { openInProcess } from "./in-process.ts";
import {
  everyMatch,
  queryNamed,
  ripgrepInTree,
  type SearchTree,
  searchInTree,
  type TreeQuery,
} from "./searches.ts";

const regex: TreeQuery = { name: "a regex with a literal", query: "register\\w+\\(\\{ tracer", regex: true };
const rare = [...["no match", "rare", "any case", "any case, with s"].map(queryNamed), regex];
/** Queries that match many files, which the first search reads. XL has too many matches for an answer. */
const common = ["common", "ends with a literal", "alternation"].map(queryNamed);
/** A query whose n-grams many files have. */
const weak: TreeQuery = {
  name: "weak literal",
  query: "function\\s+parse[A-Z]\\w*",
  regex: true,
};
/** Maximum times of repeated searches with a watched tree, as multiples of the time of `rg -j2`. */
const targets = new Map<TreeQuery, number>([
  [weak, 0.2],
  [queryNamed("alternation"), 0.2],
]);

export type BenchedIndex = "verified" | "watched";

/** Opens a worker over the tree, and waits until its index is complete. */
export async function openIndexedTree(
  tree: SearchTree,
  index: BenchedIndex,
): Promise<SearchTree & AsyncDisposable> {
  const local = await openInProcess(tree.folder, { index, ...memoryOf(tree) });
  const indexed = { ...tree, local, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
  const search = () => searchInTree(indexed, queryNamed("no match"), { max_bytes: maxBytes });
  await search();
  await local.indexed();
  // The worker lists the tree while searches go on.
  const ends = performance.now() + maxPreparation;
  while ((await search()).index !== index)
    if (performance.now() > ends) throw new Error(`${tree.name}: searches are not ${index}`);
  await search();
  return indexed;
}

/** More bytes than any of these answers has. With the field, an answer says how its files were found. */
const maxBytes = 1_000_000;

/** Maximum milliseconds until the tree is listed. A million files take about one minute. */
const maxPreparation = 300_000;

/** Returns the comparisons. `indexed` and `tree` are over the same files, with and without an index. */
export function searchesWithIndex(indexed: SearchTree, tree: SearchTree, index: BenchedIndex): Comparison[] {
  const group = `search ${tree.name}, with an index, ${index}`;
  const all = { max_matches: everyMatch };
  /** Maximum time of a rare query, as a multiple of ripgrep's time. */
  const target = index === "verified" ? 0.5 : tree.name === "S" ? 0.1 : 0.05;
  const targetOf = (query: TreeQuery) =>
    rare.includes(query) ? target : index === "watched" ? targets.get(query) : undefined;
  const ripgrep = (query: TreeQuery, most?: number) => ({
    name: "rg -j2",
    ...(most !== undefined && { target: most }),
    run: () => ripgrepInTree(tree, query, ["-j2"]),
  });
  const repeated = [...rare, ...(tree.name === "XL" ? [] : [...common, weak])].map((query) => ({
    group,
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(indexed, query, all),
    peers: [
      ripgrep(query, targetOf(query)),
      { name: "ours without it", target: 1.05, run: () => searchInTree(tree, query, all) },
    ],
  }));
  const firstMatches = {
    group,
    name: "common, the first 1,000 matches",
    ours: () => searchInTree(indexed, queryNamed("common"), {}),
    peers: [ripgrep(queryNamed("common"), index === "watched" ? 0.1 : undefined)],
  };
  let searches = 0;
  /** Returns fields with a new maximum line length, so that no kept result of an earlier search applies. */
  const unseen = () => ({ ...all, max_line_bytes: 2000 + (searches++ % 2000) });
  const notRepeated = [weak, queryNamed("alternation")].map((query) => ({
    group,
    name: `${query.name}, not searched before`,
    ours: () => searchInTree(indexed, query, unseen()),
    peers: [ripgrep(query)],
  }));
  const place = join(tree.folder, "made-by-the-bench");
  const afterChange = (made: string, make: () => void, most: number) => ({
    group,
    name: `rare, after a new ${made}`,
    ours: () => {
      rmSync(place, { recursive: true, force: true });
      make();
      return searchInTree(indexed, queryNamed("rare"), all);
    },
    peers: [ripgrep(queryNamed("rare"), most)],
  });
  const changes = [
    afterChange("file", () => writeFileSync(place, ""), 0.2),
    // A new folder may hold a hard link through which any file was changed, so the worker reads all stamps.
    afterChange("folder", () => mkdirSync(place), 0.6),
  ];
  const first = {
    group,
    name: "the first search",
    ours: () => searchOnce(tree, index),
    peers: [{ name: "ours without it", target: 1.1, run: () => searchOnce(tree, "off") }],
  };
  const others = [...(tree.name === "XL" ? [] : notRepeated), ...(index === "watched" ? changes : [])];
  return [...repeated, firstMatches, ...others, first];
}

/** The index of a million files exceeds the default limit. */
const memoryOf = ({ name }: SearchTree) => (name === "XL" ? { index_max_bytes: 2 ** 30 } : {});

/**
 * Measures the first answer, including the start of the worker. The worker fills the index and lists the tree
 * only after it.
 */
async function searchOnce(tree: SearchTree, index: string): Promise<ExternalCost> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await using local = await openInProcess(tree.folder, { index, ...memoryOf(tree) });
  await searchInTree({ ...tree, local }, queryNamed("no match"), {});
  const { user, system } = process.cpuUsage(before);
  return new ExternalCost((user + system) / 1000, performance.now() - started);
}
