import { deepStrictEqual, equal } from "node:assert/strict";
import { tmpdir } from "node:os";
import { about, type WorkerName } from "../../../src/base/about.ts";
import { converse } from "../conversation/converse.ts";
import { run } from "../packages.ts";
import { check } from "./checks.ts";
import { inTemporaryFolder } from "./folder.ts";

export interface TriedProgram {
  /** The name in the lines of the output. */
  readonly name: string;
  readonly worker: WorkerName;
  /** The target that it should report. */
  readonly target: string;
  readonly command: readonly string[];
}

const talks: Readonly<Record<WorkerName, string>> = {
  coder: "create, edit, find, delete",
  shell: "write, edit, find, read, run a program, remove",
};

/** Tries everything that must not differ between machines. Returns whether all of it passed. */
export async function tryProgram({ name, worker, target, command }: TriedProgram): Promise<boolean> {
  const output = (flag: string) => run([...command, flag], tmpdir());
  const results = [
    await check(`${name}: --version`, () => equal(output("--version"), `${worker} ${about.version}\n`)),
    await check(`${name}: --manifest`, () =>
      deepStrictEqual(JSON.parse(output("--manifest")).supported_targets, [target]),
    ),
    await check(`${name}: --print-schema`, () => {
      const ours = [process.execPath, "src/main.ts", "--worker", worker, "--print-schema"];
      equal(output("--print-schema"), run(ours));
    }),
    await check(`${name}: ${talks[worker]}`, () =>
      inTemporaryFolder((base) => converse(worker, command, base)),
    ),
  ];
  return results.every(Boolean);
}

/** Returns the median milliseconds of `--version` as a process. */
export function medianStart(command: readonly string[], rounds: number): number {
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    run([...command, "--version"]);
    return performance.now() - started;
  });
  return times.sort((one, other) => one - other)[rounds >> 1] ?? 0;
}
