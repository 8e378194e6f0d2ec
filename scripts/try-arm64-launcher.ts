/**
 * Runs the launcher of commands for arm64 on another machine, under `qemu-aarch64-static`
 * (`apt-get install qemu-user-static`): it becomes a program, makes mounts of its own, and reports failures.
 * qemu supports neither Landlock nor seccomp. Root only.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAtOnce } from "../src/base/scheduling/time-slice.ts";
import { buildLauncher, type Confinement, encodeCovers } from "../src/shell/os-sandbox/launcher.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const [image, made, reported] = ["image", "made", "reported"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const user = { uid: 0, gid: 0 };
const folders = [
  { path: "/dev", kind: "pinned" },
  { path: "/dev/shm", kind: "folder" },
] as const;
const covers = runAtOnce(encodeCovers(folders, "arm64"));

/** The outcome of a launcher: its exit status, whether touch(1) has run, and the report as mode and error. */
const trials: readonly (readonly [string, Partial<Confinement>, string])[] = [
  ["becomes a program", {}, "0 true"],
  ["reports a missing program", { file: "/missing" }, "127 false 2 -2"],
  ["reports a refused rule", { hasRuleset: true }, "127 false 1 -38"],
  ["makes mounts", { mounts: { covers, hidesProcesses: false, user } }, "0 true"],
];

function run(changes: Partial<Confinement>): string {
  const usual = { architecture: "arm64", limits: [{ resource: 7, most: 100 }], hasRuleset: false } as const;
  const confinement = { ...usual, file: "/usr/bin/touch", filter: undefined, ...changes };
  writeFileSync(image, Buffer.concat(buildLauncher(confinement)), { mode: 0o755 });
  rmSync(made, { force: true });
  const descriptors = [openSync("/dev/null", "r"), openSync(reported, "w")];
  const { status } = spawnSync("qemu-aarch64-static", [image, made], {
    stdio: ["ignore", "inherit", "inherit", ...descriptors],
  });
  for (const each of descriptors) closeSync(each);
  const report = readFileSync(reported);
  const words = report.length === 16 ? [report.readBigInt64LE(0), report.readBigInt64LE(8)] : [];
  return [status, existsSync(made), ...words].join(" ");
}

for (const [name, changes, expected] of trials) {
  const outcome = run(changes);
  console.log(`${outcome === expected ? "passed" : "failed"}: ${name} (${outcome})`);
  if (outcome !== expected) process.exitCode = 1;
}
rmSync(folder, { recursive: true });
