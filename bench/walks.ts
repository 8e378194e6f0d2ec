/**
 * Compares calls that walk a whole tree, and calls that stop well before its end: `coder::tree`, searches of
 * paths and capped searches.
 */
import { type Comparison, ExternalCost } from "./comparison.ts";
import type { SearchTree } from "./searches.ts";

/** Runs a shell command in the tree's folder. `$rg` is ripgrep with flags that make it list every file. */
function runShell({ folder, rg }: SearchTree, command: string): ExternalCost {
  const { resourceUsage } = Bun.spawnSync(["sh", "-c", command], {
    cwd: folder,
    env: { ...process.env, LC_ALL: "C", rg: `${rg} --no-config --no-ignore --hidden` },
  });
  return new ExternalCost(Number(resourceUsage.cpuTime.total) / 1000);
}

interface WalkCall {
  readonly name: string;
  readonly id: "coder::tree" | "coder::search";
  readonly payload: Readonly<Record<string, unknown>>;
  readonly peers: readonly { readonly name: string; readonly command: string; readonly target?: number }[];
}

const allMatches = { search_content: false, max_matches: 1_000_000 };

const calls: readonly WalkCall[] = [
  {
    name: "tree, whole",
    id: "coder::tree",
    payload: { max_depth: 60, per_folder_limit: 100_000 },
    peers: [{ name: "find -printf, as much of each", command: "find . -printf '%y %s %T@ %m %p\\n'" }],
  },
  {
    name: "paths only, no match",
    id: "coder::search",
    payload: { query: "zebraQuokka", ...allMatches },
    peers: [
      { name: "rg -j2 --files | grep -F", command: "$rg -j2 --files | grep -F zebraQuokka", target: 1 },
      { name: "find | grep -F", command: "find . -type f | grep -F zebraQuokka" },
    ],
  },
  {
    name: "paths only, rare  -77",
    id: "coder::search",
    payload: { query: "-77", ...allMatches },
    peers: [
      { name: "rg -j2 --files | grep -F", command: "$rg -j2 --files | grep -F -e -77", target: 1 },
      { name: "rg --files --sort path | grep", command: "$rg --files --sort path | grep -F -e -77" },
    ],
  },
  {
    name: "paths only, a regex  -7+\\.ts",
    id: "coder::search",
    payload: { query: "-7+\\.ts", regex: true, ...allMatches },
    peers: [{ name: "rg -j2 --files | grep -E", command: "$rg -j2 --files | grep -E -e '-7+\\.ts'" }],
  },
  {
    name: "first 1,000 lines and paths, soon  e",
    id: "coder::search",
    payload: { query: "e", max_matches: 1000 },
    peers: [
      {
        name: "rg --sort path | head",
        command: "$rg -n --column --sort path -F e . | head -1000",
        target: 1,
      },
    ],
  },
  {
    name: "first 1,000 lines, and paths  function",
    id: "coder::search",
    payload: { query: "function", max_matches: 1000 },
    peers: [
      {
        name: "rg | head, and rg --files | grep",
        command: "$rg -n --sort path -F function . | head -1000; $rg -j2 --files | grep -F function",
        target: 1,
      },
    ],
  },
];

export const walksOf = (tree: SearchTree): Comparison[] =>
  calls.map(({ name, id, payload, peers }) => ({
    group: `walk ${tree.name}`,
    name,
    ours: () => tree.local.call(id, payload),
    peers: peers.map(({ command, ...peer }) => ({ ...peer, run: () => runShell(tree, command) })),
  }));
