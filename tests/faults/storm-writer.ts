/**
 * Carries out the steps of a storm as fast as it can: `BASE PROGRESS FILES ROUNDS`. Before each step, it
 * writes the number of started steps to the file PROGRESS, including that one. At the end, it writes one more
 * than their number.
 */
import { openSync, renameSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type StormStep, stormSteps } from "./storm-plan.ts";

function carryOut(base: string, step: StormStep): void {
  if (step.kind === "write") writeFileSync(join(base, step.path), step.text);
  else if (step.kind === "remove") unlinkSync(join(base, step.path));
  else renameSync(join(base, step.from), join(base, step.to));
}

const [base, progress, files, rounds] = process.argv.slice(2) as [string, string, string, string];
const descriptor = openSync(progress, "r+");
const count = new Uint32Array(1);
for (const step of stormSteps({ files: Number(files), rounds: Number(rounds) })) {
  count[0]!++;
  writeSync(descriptor, count, 0, 4, 0);
  carryOut(base, step);
}
count[0]!++;
writeSync(descriptor, count, 0, 4, 0);
