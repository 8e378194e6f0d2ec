/**
 * `npm run suite -- race --seconds 30 [--roots | --scope]`: runs every cell of the race suite that long on
 * each backend, and on the design that checks by realpath until it loses. Prints the numbers of calls and of
 * escapes.
 */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../../harness/worker-fixture.ts";
import { backends } from "../backends.ts";
import { pathCalls } from "../calls.ts";
import { cellName, type RaceCase, raceCasesOf } from "./cells.ts";
import { bestSwapper, type RaceResult, runRace } from "./run.ts";
import { checked } from "./victim.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    /** Part of the names of the cells to run. */
    only: { type: "string", default: "" },
    /** Whether the base is a root among several. */
    roots: { type: "boolean", default: false },
    /** Whether the base is the scope of each call. */
    scope: { type: "boolean", default: false },
  },
});
const layout = values.roots ? "roots" : values.scope ? "scope" : "base";
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error(`--seconds is ${values.seconds}; give a number above 0`);

const nameIn = ({ cell, argument }: RaceCase): string => `${argument}: ${cellName(cell)}`;

const isHeld = ({ escapes, faults, isHung, descriptors }: RaceResult): boolean =>
  escapes === 0 && faults.length === 0 && !isHung && descriptors[1] <= descriptors[0];

const row = (first: string, rest: readonly (string | number)[]): void =>
  console.log(first.padEnd(88) + rest.map((word) => String(word).padStart(20)).join(""));

const folder = temporaryFolder();
try {
  const swapper = await bestSwapper(folder);
  const subjects = layout === "base" ? [...backends, checked] : backends;
  row("escapes / calls", subjects);
  for (const { cell, argument } of raceCasesOf(pathCalls).filter((raced) =>
    nameIn(raced).includes(values.only),
  )) {
    const shown: string[] = [];
    for (const subject of subjects) {
      const outcome = await runRace({ cell, argument, subject, seconds, swapper, layout });
      shown.push(outcome.isHung ? "hung" : `${outcome.escapes} / ${outcome.calls}`);
      if (subject === checked || isHeld(outcome)) continue;
      process.exitCode = 1;
      shown.push(`FAILED ${JSON.stringify(outcome)}`);
    }
    row(nameIn({ cell, argument }), shown);
  }
} finally {
  rmSync(folder, { recursive: true });
}
