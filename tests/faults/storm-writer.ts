/**
 * A program that carries out the steps of a storm as fast as it can: `BASE PROGRESS FILES ROUNDS`. Before each step it writes to
 * the file PROGRESS how many steps it has started with that one; at the end, one more than there are.
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
