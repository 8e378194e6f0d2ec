/** Repeated searches with an index, and the first one, against ripgrep and against searches without. */
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
/** Most files match, and so are read by the first search for it. Of XL no answer has room for all matches. */
const common = ["common", "ends with a literal", "alternation"].map(queryNamed);
/** Most files have its n-grams. */
const weak: TreeQuery = {
  name: "weak literal",
  query: "function\\s+parse[A-Z]\\w*",
  regex: true,
};
/** The most that a repeated search may take of the time of `rg -j2`, where the watched tree takes part. */
const targets = new Map<TreeQuery, number>([
  [weak, 0.2],
  [queryNamed("alternation"), 0.2],
]);

export type BenchedIndex = "verified" | "watched";

/** A tree with a worker that has an index of it. */
export async function openIndexedTree(
  tree: SearchTree,
  index: BenchedIndex,
): Promise<SearchTree & AsyncDisposable> {
  const local = await openInProcess(tree.folder, { index, ...memoryOf(tree) });
  const indexed = { ...tree, local, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
  const search = () => searchInTree(indexed, queryNamed("no match"), { max_bytes: maxBytes });
  await search();
  await local.indexed();
  // The tree is listed while searches go on.
  const ends = performance.now() + maxPreparation;
  while ((await search()).index !== index)
    if (performance.now() > ends) throw new Error(`${tree.name}: searches are not ${index}`);
  await search();
  return indexed;
}

/** More than an answer takes: the field makes the answer say how the files were found. */
const maxBytes = 1_000_000;

/** Milliseconds: a million files take one minute. */
const maxPreparation = 300_000;

/** `indexed` and `tree` are of the same files. */
export function searchesWithIndex(indexed: SearchTree, tree: SearchTree, index: BenchedIndex): Comparison[] {
  const group = `search ${tree.name}, with an index, ${index}`;
  const all = { max_matches: everyMatch };
  /** Of the time of ripgrep. */
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
  /** The results for another maximum of lines are not kept. */
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
    // A link to any file may have been written to in it, so all stamps are read.
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

/** A million files take more than the default. */
const memoryOf = ({ name }: SearchTree) => (name === "XL" ? { index_max_bytes: 2 ** 30 } : {});

/** What the first answer takes, with the start of the worker. The index is filled, and the tree listed, behind it. */
async function searchOnce(tree: SearchTree, index: string): Promise<ExternalCost> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await using local = await openInProcess(tree.folder, { index, ...memoryOf(tree) });
  await searchInTree({ ...tree, local }, queryNamed("no match"), {});
  const { user, system } = process.cpuUsage(before);
  return new ExternalCost((user + system) / 1000, performance.now() - started);
}
