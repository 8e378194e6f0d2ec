/**
 * One side of a race, a process of its own: makes a call of `shell::fs` over and over on a path that is being bent, looks
 * at every answer and at what it must not have touched, and prints a `ShellReport` as its second line.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDescriptors } from "../../harness/descriptors.ts";
import { outsideName, secrets } from "../escape-case.ts";
import type { Swap } from "../race/cells.ts";
import { breachesOf, Caretaker } from "../race/world.ts";
import { openShell, ways } from "./shell.ts";

export interface ShellRaceJob {
  /** The name of a `Way`. */
  readonly way: string;
  readonly swap: Swap;
  readonly path: string;
  readonly root: string;
  readonly seconds: number;
}

export interface ShellReport {
  readonly calls: number;
  /** Examples of what was shown or changed outside, and of failures nobody foresaw. */
  readonly faults: readonly string[];
  readonly descriptors: readonly [number, number];
}

const faultsKept = 5;
/** However busy the machine is. */
const fewestCalls = 20;

async function race({ way: name, swap, path, root, seconds }: ShellRaceJob): Promise<ShellReport> {
  const faults: string[] = [];
  const base = join(root, "base");
  const shell = await openShell(base, { denied: [] }, (line) => faults.push(line));
  const way = ways.find((one) => one.name === name)!;
  using caretaker = new Caretaker(root, swap);
  let [calls, before] = [0, 0];
  const end = performance.now() + seconds * 1000;
  console.log("started");
  while (performance.now() < end || calls < fewestCalls) {
    if (way.effect === "writes") caretaker.tidy();
    const others = { there: "f", free: `moved-${calls}` };
    if (way.isPaired) writeFileSync(join(base, others.there), "inside\n");
    const shown = await shell.call(way, join(base, path.replace("#", String(calls))), others);
    if (calls++ === 0) before = await openDescriptors();
    const found = [
      ...(way.effect === "writes" ? breachesOf(root) : []),
      ...[...secrets, outsideName].filter((word) => shown.includes(word)).map((word) => `shows ${word}`),
    ];
    if (faults.length < faultsKept) faults.push(...found.map((fault) => `${fault}: ${shown}`));
  }
  return { calls, faults, descriptors: [before, await openDescriptors(before)] };
}

if (import.meta.main) {
  console.log(JSON.stringify(await race(JSON.parse(process.argv[2]!) as ShellRaceJob)));
  process.exit();
}
