import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../build.ts";
import type { ReleaseTarget } from "../targets.ts";

const manifests = ["package.json", "package-lock.json", "targets.json", "tsconfig.json"];

/** A release being made in another process. */
export interface Again extends Disposable {
  /** Resolves to the folder with its archives. Rejects with the output of the process if it failed. */
  readonly finished: Promise<string>;
}

/**
 * Makes a release of `targets` from a copy of the sources in the empty `folder`. The packages of the runtimes
 * must already be downloaded, or two processes would download them at once.
 */
export function startAgain(targets: readonly ReleaseTarget[], folder: string): Again {
  for (const name of ["src", "scripts", "node_modules"]) copy(name, folder);
  for (const name of [...manifests, "LICENSE", "THIRD-PARTY-NOTICES.txt"]) copy(name, folder);
  mkdirSync(join(folder, ".work"));
  symlinkSync(join(root, ".work/packages"), join(folder, ".work/packages"));
  const out = join(folder, "again");
  const names = targets.map(({ triple }) => triple).join(",");
  const child = Bun.spawn([process.execPath, "scripts/release.ts", "--targets", names, "--out", out], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const finish = async () => {
    const said = await child.stderr.text();
    if ((await child.exited) !== 0) throw new Error(`making the release again failed: ${said}`);
    return out;
  };
  const finished = finish();
  // A caller that awaits `finished` gets the error. Without such a caller, it would end the process.
  finished.catch(() => undefined);
  return { finished, [Symbol.dispose]: () => child.kill() };
}

const copy = (name: string, folder: string) =>
  cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
