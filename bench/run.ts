/**
 * `npm run bench`: the costs of calls, as ratios to named peers that take turns with ours in one run. Prints
 * a table. A whole run also writes bench/results.json and docs/bench.svg.
 *
 *     npm run bench -- --quick --only search --rounds 3
 *     npm run bench -- --only index --tree XL --rounds 3
 *
 * Rows "in process" run the handlers from source in this process. The others run the executable.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureExecutable, root } from "../scripts/build.ts";
import { renderChart } from "./chart.ts";
import { measureCommands } from "./commands.ts";
import { type Comparison, type Ratio, runComparison } from "./comparison.ts";
import { openDiskComparisons } from "./disk.ts";
import { measureFairness } from "./fairness.ts";
import { type Figure, measureFigures } from "./figures.ts";
import { openIndexedTree, searchesWithIndex } from "./indexed-searches.ts";
import { openJournalComparisons } from "./journal.ts";
import { openOrderComparisons } from "./order.ts";
import { measurePauses } from "./pauses.ts";
import { ensurePeers, type Peers } from "./peers.ts";
import { openPlainPeers } from "./plain-peers.ts";
import { openReplacementComparisons } from "./replacements.ts";
import { renderFigure, renderJson, renderRatio, renderSummary } from "./report.ts";
import { searchesByOption } from "./search-options.ts";
import {
  openSearchTree,
  searchesByIgnoreFiles,
  searchesForAll,
  searchForFirst,
  searchInLongLines,
  verifyCounts,
} from "./searches.ts";
import { openServerComparisons } from "./servers.ts";
import { firstSearches, memoryOfSessions, startsOfSessions } from "./sessions.ts";
import { openTelemetryComparisons } from "./telemetry.ts";
import { compareTokens } from "./tokens.ts";
import { walksOf } from "./walks.ts";
import { openWindowComparisons } from "./windows.ts";

const parts = [
  "search",
  "index",
  "options",
  "walks",
  "disk",
  "replacements",
  "servers",
  "sessions",
  "fairness",
  "commands",
  "order",
  "telemetry",
  "tokens",
  "figures",
  "pauses",
] as const;
type Part = (typeof parts)[number];

/** The trees. XL, with a million files, takes part only if `--tree` names it. */
const sourceTrees = ["S", "L", "XL"] as const;
type SourceTree = (typeof sourceTrees)[number];

interface Run {
  readonly only: readonly Part[];
  readonly quick: boolean;
  readonly trees: readonly SourceTree[];
  readonly rounds: number;
}

async function main(): Promise<void> {
  const run = parseFlags(process.argv.slice(2));
  await ensureExecutable();
  const peers = ensurePeers();
  const ratios: Ratio[] = [];
  const figures: Figure[] = [];
  const report = (rows: readonly Ratio[]) => {
    for (const row of rows) {
      console.log(renderRatio(row, ratios.at(-1)));
      ratios.push(row);
    }
  };
  const compareAll = async (comparisons: readonly Comparison[]) => {
    for (const comparison of comparisons) report(await runComparison(comparison, run.rounds));
  };
  if (run.only.includes("search")) await search(run, peers, compareAll);
  if (run.only.includes("index")) await searchWithIndex(run, peers, compareAll);
  if (run.only.includes("options")) await searchWithOptions(run, peers, compareAll);
  if (run.only.includes("walks")) await walk(run, peers, compareAll);
  if (run.only.includes("disk")) {
    await using disk = await openDiskComparisons();
    await compareAll(disk.comparisons);
    await using journal = await openJournalComparisons();
    await compareAll(journal.comparisons);
    await using windows = await openWindowComparisons();
    await compareAll(windows.comparisons);
  }
  if (run.only.includes("replacements")) {
    await using replacements = await openReplacementComparisons();
    await compareAll(replacements.comparisons);
  }
  if (run.only.includes("servers")) {
    await using servers = await openServerComparisons(peers);
    await compareAll(servers.comparisons);
  }
  if (run.only.includes("sessions")) await startSessions(run, peers, compareAll);
  if (run.only.includes("order")) {
    await using order = await openOrderComparisons();
    await compareAll(order.comparisons);
  }
  if (run.only.includes("telemetry")) {
    await using telemetry = await openTelemetryComparisons();
    await compareAll(telemetry.comparisons);
  }
  if (run.only.includes("fairness")) report(await measureFairness(run.rounds));
  if (run.only.includes("commands")) {
    const commands = await measureCommands(run.rounds);
    report(commands.ratios);
    figures.push(...commands.figures);
  }
  if (run.only.includes("tokens")) console.log(await compareTokens(peers.mcpFilesystem));
  if (run.only.includes("pauses")) figures.push(...(await measurePauses()));
  if (run.only.includes("figures")) figures.push(...(await measureFigures(run.rounds)));
  for (const figure of figures) console.log(renderFigure(figure));
  console.log(`\n${renderSummary(ratios)}`);
  if (run.trees.join() === "S,L" && run.only.length === parts.length) write({ run, peers, ratios, figures });
}

type CompareAll = (comparisons: readonly Comparison[]) => Promise<void>;

async function search({ trees }: Run, { rg }: Peers, compareAll: CompareAll): Promise<void> {
  await using plain = openPlainPeers();
  for (const name of trees) {
    await using tree = await openSearchTree(name, rg);
    await verifyCounts(tree);
    await compareAll([...searchesForAll(tree, plain), searchForFirst(tree)]);
  }
  await using ignoring = await openSearchTree("ignoring", rg);
  await compareAll(searchesByIgnoreFiles(ignoring));
  await using tree = await openSearchTree("long", rg);
  await compareAll([searchInLongLines(tree)]);
}

async function searchWithIndex({ trees }: Run, { rg }: Peers, compareAll: CompareAll): Promise<void> {
  for (const name of trees) {
    await using tree = await openSearchTree(name, rg);
    for (const index of ["verified", "watched"] as const) {
      await using indexed = await openIndexedTree(tree, index);
      await compareAll(searchesWithIndex(indexed, tree, index));
    }
  }
}

async function startSessions({ trees }: Run, peers: Peers, compareAll: CompareAll): Promise<void> {
  await compareAll([startsOfSessions(peers), ...memoryOfSessions(peers)]);
  for (const name of trees) {
    await using tree = await openSearchTree(name, peers.rg);
    await compareAll(await firstSearches(tree));
  }
}

async function searchWithOptions({ trees }: Run, { rg }: Peers, compareAll: CompareAll): Promise<void> {
  for (const name of trees) {
    await using tree = await openSearchTree(name, rg);
    await compareAll(searchesByOption(tree));
  }
}

async function walk({ trees }: Run, { rg }: Peers, compareAll: CompareAll): Promise<void> {
  for (const name of trees) {
    await using tree = await openSearchTree(name, rg);
    await compareAll(walksOf(tree));
  }
}

function parseFlags(args: string[]): Run {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true },
      quick: { type: "boolean", default: false },
      tree: { type: "string", multiple: true },
      rounds: { type: "string" },
    },
  });
  const only = values.only?.flatMap((list) => list.split(",")) ?? [...parts];
  const unknown = only.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`There is no part ${unknown}; they are ${parts.join(", ")}.`);
  const trees = values.tree ?? (values.quick ? ["S"] : ["S", "L"]);
  const noTree = trees.find((name) => !sourceTrees.some((tree) => tree === name));
  if (noTree !== undefined)
    throw new Error(`There is no tree ${noTree}; they are ${sourceTrees.join(", ")}.`);
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 7));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number from 1.");
  return { only: only as Part[], quick: values.quick, trees: trees as SourceTree[], rounds };
}

interface Results {
  readonly run: Run;
  readonly peers: Peers;
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

function write({ run, peers, ratios, figures }: Results): void {
  const conditions = {
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    bun: Bun.version,
    ...peers.versions,
    rounds: run.rounds,
  };
  const data = join(root, "bench/results.json");
  writeFileSync(data, renderJson({ conditions, ratios, figures }));
  spawnSync(join(root, "node_modules/.bin/biome"), ["format", "--write", data]); // the checks cover it
  writeFileSync(join(root, "docs/bench.svg"), renderChart(ratios, "L"));
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
