/** Compares `coder::search` with ripgrep and with a naive search. */
import { type Comparison, ExternalCost } from "./comparison.ts";
import { ensureCorpus } from "./corpus.ts";
import { ensureIgnoringTree } from "./ignoring-tree.ts";
import { type InProcessCoder, openInProcess } from "./in-process.ts";
import type { PlainPeers, PlainQuery } from "./plain-peers.ts";

export interface TreeQuery extends PlainQuery {
  readonly name: string;
}

interface JudgedQuery extends TreeQuery {
  /** Maximum time of ours, as a multiple of the time of `rg -j2`. */
  readonly target: number;
}

const queries: readonly JudgedQuery[] = [
  { name: "no match", query: "zebraQuokka", target: 1 },
  { name: "rare", query: "registerInstrumentations", target: 1 },
  { name: "common", query: "function", target: 1 },
  { name: "starts with a literal", query: "function\\s+\\w+\\(", regex: true, target: 1 },
  { name: "ends with a literal", query: "\\w+Error\\b", regex: true, target: 1 },
  { name: "alternation", query: "TODO|FIXME|XXX", regex: true, target: 1 },
  { name: "date", query: "\\d{4}-\\d{2}-\\d{2}", regex: true, target: 1.2 },
  { name: "capitals", query: "\\b[A-Z]{4,}_[A-Z]{4,}_[A-Z]{4,}\\b", regex: true, target: 1.2 },
  { name: "any case", query: "eaddrinuse", ignoreCase: true, target: 1 },
  { name: "any case, with s", query: "deserialize", ignoreCase: true, target: 1 },
  { name: "Cyrillic", query: "пример", target: 1 },
  { name: "Cyrillic, any case", query: "ПРИМЕР", ignoreCase: true, target: 1 },
];

/** Maximum matches of a search without `max_matches`. */
const firstThousand = 1000;
export const everyMatch = 1_000_000;

export const queryNamed = (wanted: string): JudgedQuery => queries.find(({ name }) => name === wanted)!;

interface SearchAnswer {
  readonly content_matches: readonly unknown[];
  readonly truncated: boolean;
  readonly index?: string;
}

export interface SearchTree {
  readonly name: string;
  readonly folder: string;
  readonly local: InProcessCoder;
  readonly rg: string;
}

/** Opens a tree for searches by ours and by `rg`. */
export async function openSearchTree(
  name: "S" | "L" | "XL" | "long" | "ignoring",
  rg: string,
): Promise<SearchTree & AsyncDisposable> {
  const folder = name === "ignoring" ? ensureIgnoringTree() : ensureCorpus(name);
  const local = await openInProcess(folder);
  return { name, folder, local, rg, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
}

/** Returns searches for all matches of the twelve queries. */
export function searchesForAll(tree: SearchTree, plain: PlainPeers): Comparison[] {
  const isLarge = tree.name === "L";
  return queries.map((query) => ({
    group: `search ${tree.name}, all matches`,
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(tree, query, { max_matches: everyMatch }),
    peers: [
      { name: "rg -j2", target: query.target, run: () => ripgrepInTree(tree, query, ["-j2"]) },
      { name: "rg --sort path", target: 0.75, run: () => ripgrepInTree(tree, query, ["--sort", "path"]) },
      {
        name: "naive",
        target: 0.35,
        run: () => plain.searchNaively(tree.folder, query),
        every: isLarge ? 3 : 1,
      },
      ...(query === queries[0]
        ? [{ name: "system calls alone", run: () => plain.readEverything(tree.folder) }]
        : []),
    ],
  }));
}

/** Returns a search with the default cap. */
export function searchForFirst(tree: SearchTree): Comparison {
  const query = queryNamed("common");
  return {
    group: `search ${tree.name}, first ${firstThousand}`,
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(tree, query, {}),
    peers: [
      {
        name: `rg --sort path | head -${firstThousand}`,
        ...(tree.name === "L" && { target: 1 }),
        run: () => ripgrepInTree(tree, query, ["--sort", "path"], firstThousand),
      },
    ],
  };
}

/**
 * Compares searches with and without ignore files that match no file, so that both read the same files.
 * ripgrep is a peer.
 */
export function searchesByIgnoreFiles(tree: SearchTree): Comparison[] {
  const flags = ["-j2", "--ignore", "--no-require-git", "--no-ignore-global", "--no-ignore-parent"];
  const all = { max_matches: everyMatch };
  return ["no match", "common", "alternation"].map(queryNamed).map((query) => ({
    group: "search S, with ignore files",
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(tree, query, { ...all, respect_gitignore: true }),
    // The target is close to the result. With single runs, 15 rounds are accurate to only 0.04.
    times: 5,
    peers: [
      { name: "ours without them", target: 1.1, run: () => searchInTree(tree, query, all) },
      { name: "rg -j2", target: 1, run: () => ripgrepInTree(tree, query, flags) },
    ],
  }));
}

/** Returns a search of whole lines that are hundreds of kilobytes long and not ASCII. */
export function searchInLongLines(tree: SearchTree): Comparison {
  const query = queryNamed("ends with a literal");
  return {
    group: "search, long lines",
    name: `${query.name}  ${query.query}`,
    ours: () => searchInTree(tree, query, { max_line_bytes: 1_000_000 }),
    peers: [{ name: "rg -j2", target: 2, run: () => ripgrepInTree(tree, query, ["-j2"]) }],
  };
}

/**
 * Reports queries whose counts differ between ours and ripgrep. Ours searches only the first 4 KiB of a line.
 * Throws if an answer of ours was cut, because then it did less work than its peers.
 */
export async function verifyCounts(tree: SearchTree): Promise<void> {
  for (const query of queries) {
    const found = await searchInTree(tree, query, { max_matches: everyMatch });
    const lines = runRipgrep(tree, query, ["-j2"]).stdout.toString("latin1").split("\n").length - 1;
    if (found.truncated) throw new Error(`${tree.name}, ${query.query}: the answer was cut`);
    if (found.content_matches.length !== lines)
      console.error(`${tree.name}, ${query.query}: ours ${found.content_matches.length} lines, rg ${lines}`);
  }
}

/** Searches with these fields. Reports an answer that was cut without having reached the default cap. */
export async function searchInTree(
  { name, local }: SearchTree,
  { query, regex = false, ignoreCase = false }: TreeQuery,
  options: Readonly<Record<string, unknown>>,
): Promise<SearchAnswer> {
  const answer = await local.call<SearchAnswer>("coder::search", {
    query,
    regex,
    ignore_case: ignoreCase,
    search_paths: false,
    ...options,
  });
  // Only the cap may cut an answer. After a deadline, the time would be meaningless.
  if (answer.truncated && answer.content_matches.length !== firstThousand)
    console.error(`${name}, ${query}: an answer was cut at ${answer.content_matches.length} lines`);
  return answer;
}

/** Runs ripgrep, whose output is read through a pipe but not parsed. */
export function ripgrepInTree(
  tree: SearchTree,
  query: TreeQuery,
  flags: readonly string[],
  head?: number,
): ExternalCost {
  const { resourceUsage } = runRipgrep(tree, query, flags, head);
  return new ExternalCost(Number(resourceUsage.cpuTime.total) / 1000);
}

function runRipgrep({ folder, rg }: SearchTree, query: TreeQuery, flags: readonly string[], head?: number) {
  const kind = [...(query.regex ? [] : ["-F"]), ...(query.ignoreCase ? ["-i"] : [])];
  const usual = ["--no-config", "-n", "--column", "--no-ignore", "--hidden"];
  const command = [rg, ...usual, ...flags, ...kind, "--", query.query, "."];
  const cut = ["sh", "-c", `"$@" | head -${head}`, "sh", ...command];
  return Bun.spawnSync(head === undefined ? command : cut, { cwd: folder });
}
