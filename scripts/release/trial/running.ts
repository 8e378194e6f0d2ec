import { join } from "node:path";
import { workerNames } from "../../../src/base/about.ts";
import { makeMuslRoot } from "../musl.ts";
import type { TargetTrial } from "../notes.ts";
import type { Smoke } from "../targets.ts";
import { check } from "./checks.ts";
import { medianStart, tryProgram } from "./program.ts";

/** Runs the executables in `folder`, called like the workers, in every available way. */
export async function runWorkers(
  triple: string,
  { launchers, musl }: Extract<Smoke, { how: "run" }>,
  folder: string,
): Promise<TargetTrial> {
  const [first] = workerNames.map((worker) => join(folder, worker)) as [string];
  const muslRoot = join(folder, "musl");
  if (musl && !(await check(`${triple}: a root with musl`, () => makeMuslRoot(musl, first, muslRoot))))
    return { verdict: "**not run**" };
  const ways = launchers.map((launcher) => launcher.map((word) => word.replace("{musl}", muslRoot)));
  const failed: string[] = [];
  for (const way of ways) {
    for (const worker of workerNames) {
      const [name, command] = [`${worker}-${triple} ${placeOf(way)}`, [...way, join(folder, worker)]];
      const passed = await tryProgram({ name, worker, target: triple, command });
      if (!passed) failed.push(`${worker} ${placeOf(way)}`);
    }
  }
  if (failed.length > 0) return { verdict: `**failed: ${failed.join(", ")}**` };
  const [way = []] = ways;
  const isEmulated = placeOf(way) !== here;
  return {
    verdict: `passed ${ways.map(placeOf).join(" and ")}`,
    startMilliseconds: medianStart([...way, first], isEmulated ? 3 : 21),
    isEmulated,
  };
}

const here = "natively";

/** Returns the phrase for the place where a launcher runs a program. */
function placeOf(launcher: readonly string[]): string {
  const flag = launcher.indexOf("-cpu");
  return flag < 0 ? here : `in qemu as ${launcher[flag + 1]}`;
}
