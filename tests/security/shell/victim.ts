/**
 * One side of races, as a process of its own. In each race, it repeats a call of `shell::fs` on a path that
 * the swapper swaps, checks every answer and the files outside, and prints a `ShellReport`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countDescriptors } from "../../harness/descriptors.ts";
import { outsideName, secrets } from "../escape-case.ts";
import type { Swap } from "../race/cells.ts";
import { breachesOf, TreeRestorer } from "../race/race-tree.ts";
import { serveRaces } from "../race/victims.ts";
import { openShellFunctions, shellPathArguments } from "./shell.ts";

export interface ShellRaceJob {
  /** The name of the path argument for the call. */
  readonly argument: string;
  readonly swap: Swap;
  readonly path: string;
  readonly root: string;
  readonly seconds: number;
}

export interface ShellReport {
  readonly calls: number;
  /** Examples of outside files that were shown or changed, and of unexpected failures. */
  readonly faults: readonly string[];
  readonly descriptors: readonly [number, number];
}

const faultsKept = 5;
/** Minimum calls of a race, however busy the machine is. */
const fewestCalls = 20;

async function race({ argument: name, swap, path, root, seconds }: ShellRaceJob): Promise<ShellReport> {
  const faults: string[] = [];
  const base = join(root, "base");
  const shell = await openShellFunctions(base, { denied: [] }, (line) => faults.push(line));
  const argument = shellPathArguments.find((one) => one.name === name)!;
  using restorer = new TreeRestorer(root, swap);
  let [calls, before] = [0, 0];
  const end = performance.now() + seconds * 1000;
  console.log("started");
  while (performance.now() < end || calls < fewestCalls) {
    if (argument.effect === "writes") restorer.restore();
    const others = { there: "f", free: `moved-${calls}` };
    if (argument.hasOtherPaths) writeFileSync(join(base, others.there), "inside\n");
    const shown = await shell.call(argument, join(base, path.replace("#", String(calls))), others);
    if (calls++ === 0) before = await countDescriptors();
    const found = [
      ...(argument.effect === "writes" ? breachesOf(root) : []),
      ...[...secrets, outsideName].filter((word) => shown.includes(word)).map((word) => `shows ${word}`),
    ];
    if (faults.length < faultsKept) faults.push(...found.map((fault) => `${fault}: ${shown}`));
  }
  const descriptors = [before, await countDescriptors(before)] as const;
  await shell.close();
  return { calls, faults, descriptors };
}

if (import.meta.main) await serveRaces(race);
