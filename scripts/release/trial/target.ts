import { deepStrictEqual, equal } from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { noticesFile } from "../../build.ts";
import type { Artefact } from "../artefact.ts";
import { ensureInstalled } from "../debian.ts";
import { faultOfSignature, readSignature } from "../mach-o.ts";
import { readMachine } from "../machine.ts";
import type { TargetTrial } from "../notes.ts";
import { run } from "../packages.ts";
import type { ReleaseTarget } from "../targets.ts";
import { check, skip } from "./checks.ts";
import { runWorkers } from "./running.ts";

/** Tries the archives of one target, as thoroughly as this machine can, in the empty `folder`. */
export async function tryTarget(
  target: ReleaseTarget,
  artefacts: readonly Artefact[],
  folder: string,
): Promise<TargetTrial> {
  const { triple, smoke } = target;
  const sound: boolean[] = [];
  for (const artefact of artefacts) {
    const name = `${artefact.worker}-${triple}`;
    sound.push(
      (await check(`${name}: the archive holds one executable, and the notices`, () =>
        unpack(artefact, folder),
      )) &&
        (await check(`${name}: it is for ${triple} and says so`, () =>
          examine(target, join(folder, artefact.worker)),
        )),
    );
  }
  if (!sound.every(Boolean)) return { verdict: "**broken**" };
  const obstacle = smoke.how === "run" ? ensureInstalled(smoke.debian) : smoke.because;
  if (smoke.how === "run" && obstacle === undefined) return runWorkers(triple, smoke, folder);
  skip(`${triple}: running`, obstacle ?? "");
  return { verdict: "read, not run", because: obstacle ?? "" };
}

/** Unpacks an archive. Throws the fault of the archive, its checksum or the extracted file. */
function unpack({ worker, archive }: Artefact, folder: string): void {
  const checksum = basename(archive).replace(".tar.gz", ".sha256");
  run(["sha256sum", "--check", "--strict", checksum], dirname(archive));
  equal(run(["tar", "-xzvf", archive, "-C", folder]), `${worker}\n${basename(noticesFile)}\n`);
  equal(statSync(join(folder, worker)).mode & 0o7777, 0o755);
}

/** Reads an executable, and throws its fault. */
function examine({ triple, asksFor }: ReleaseTarget, executable: string): void {
  const contents = readFileSync(executable);
  const [processor = ""] = triple.split("-");
  deepStrictEqual(readMachine(contents), { processor, asksFor });
  // The text in the program that --manifest prints.
  const says = ["", " "].some((space) => contents.includes(`supported_targets:${space}["${triple}"]`));
  equal(says, true, `it does not say that it is for ${triple}`);
  if (triple.endsWith("-apple-darwin")) equal(faultOfSignature(readSignature(contents)), undefined);
}
