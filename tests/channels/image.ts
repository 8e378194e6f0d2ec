/**
 * `npm run suite -- image`: builds the image of the Dockerfile with buildah and tries it, for x64 and, under
 * qemu, for arm64. Needs an x64 machine with Debian, and root. The last line says
 * `N passed, N failed, N skipped`.
 */
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, root } from "../../scripts/build.ts";
import { ensureInstalled } from "../../scripts/release/debian.ts";
import { type ImageMachine, prepareImage } from "../../scripts/release/image.ts";
import { run } from "../../scripts/release/packages.ts";
import { chooseTargets } from "../../scripts/release/targets.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";
import { buildTarget } from "../../scripts/release.ts";

/** The user ID and group ID in the image. */
const user = 65_532;

/** The emulator's path on this machine, and its path in the container. */
const emulator = { file: "/usr/bin/qemu-aarch64-static", place: "/emulator" };

const base = mkdtempSync(join(tmpdir(), "coder-image-"));
const storage = ["--storage-driver", "vfs", "--root", join(base, "root"), "--runroot", join(base, "run")];
const buildah = (...args: string[]) => run(["buildah", ...storage, ...args]);

/** Builds the image for one architecture and runs its trials. */
async function tryMachine(machine: ImageMachine, program: string): Promise<void> {
  prepareImage(program, machine);
  const tag = `coder-${machine}`;
  await check(`${machine}: buildah builds the Dockerfile`, () =>
    buildah("build", "--isolation", "chroot", "--platform", `linux/${machine}`, "--tag", tag, root),
  );
  const container = buildah("from", "--arch", machine, `localhost/${tag}`).trim();
  for (const [name, trial] of Object.entries(trialsOf(machine, container)))
    await check(`${machine}: ${name}`, trial);
  const size = buildah("images", "--format", "{{.Size}}", `localhost/${tag}`).trim();
  console.log(`size of the image for ${machine}: ${size}`);
}

function trialsOf(machine: ImageMachine, container: string): Readonly<Record<string, () => void>> {
  const [project, state] = ["project", "state"].map((name) => join(base, machine, name)) as [string, string];
  for (const folder of [project, state]) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, user, user);
  }
  const emulated = machine === "arm64" ? [emulator.place] : [];
  if (machine === "arm64") buildah("copy", container, emulator.file, emulator.place);
  const start = (args: string[], input = "", access = "rw") => {
    const volumes = ["--volume", `${project}:/project:${access}`, "--volume", `${state}:/state`];
    const command = ["buildah", ...storage, "run", "--isolation", "chroot", ...volumes, container];
    const { exitCode, stdout, stderr } = Bun.spawnSync([...command, "--", ...emulated, ...args], {
      stdin: Buffer.from(input),
    });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  const coder = "/usr/local/bin/coder";
  return {
    "the image has no shell": () => notEqual(start(["/bin/sh", "-c", "true"]).exitCode, 0),
    "it serves MCP as the configuration of the image says": () => {
      const { OCIv1: image } = JSON.parse(buildah("inspect", container));
      const { Entrypoint, Cmd, User, Volumes } = image.config;
      deepEqual([User, Volumes, image.architecture], [`${user}:${user}`, { "/state": {} }, machine]);
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "a", version: "1" },
      };
      const hello = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
      match(start([...Entrypoint, ...Cmd], hello).stdout, /"serverInfo"/);
    },
    "its user writes the project": () => {
      const payload = JSON.stringify({ files: [{ path: "a", content: "a\n" }] });
      const call = start([coder, "call", "create-file", payload, "--base-path", "/project"]);
      equal(call.exitCode, 0, call.stderr);
      deepEqual([readFileSync(join(project, "a"), "utf8"), statSync(join(project, "a")).uid], ["a\n", user]);
    },
    "a project that is mounted read-only stays as it is": () => {
      const payload = JSON.stringify({ paths: ["a"] });
      const call = start([coder, "call", "delete-file", payload, "--base-path", "/project"], "", "ro");
      equal(call.exitCode, 3, call.stderr);
      equal(readFileSync(join(project, "a"), "utf8"), "a\n");
    },
    "its root may be read-only: an edit is recorded in the state, and taken back": () => {
      const config = join(state, "journal.yaml");
      writeFileSync(config, "base_path: /project\njournal: {}\n");
      const image = buildah("mount", container).trim();
      const call = (...args: string[]) =>
        run([
          ...["unshare", "--mount", "sh", "-ec", readOnlyRoot, image, project, state],
          ...[...emulated, coder, ...args, "--config", "/state/journal.yaml"],
        ]);
      call("call", "delete-file", JSON.stringify({ paths: ["a"] }));
      match(call("undo"), /"restored"/);
      equal(readFileSync(join(project, "a"), "utf8"), "a\n");
    },
  };
}

/**
 * A script for sh. Its arguments are the image, the two folders to mount in it, and the command to start
 * there.
 */
const readOnlyRoot = `
image=$0
mount --bind "$image" "$image"
mount --bind "$1" "$image/project"
mount --bind "$2" "$image/state"
for name in dev proc; do
  mkdir -p "$image/$name"
  mount --rbind "/$name" "$image/$name"
done
mount -o remount,bind,ro "$image"
shift 2
export HOME=/state XDG_STATE_HOME=/state TMPDIR=/state
exec chroot --userspec=${user}:${user} "$image" "$@"
`;

/** Builds the executable for arm64 and returns its path. */
async function buildArm64(): Promise<string> {
  const [target] = chooseTargets("aarch64-unknown-linux-gnu");
  const program = join(base, "coder-arm64");
  if (target !== undefined) writeFileSync(program, (await buildTarget(target)).executable, { mode: 0o755 });
  return program;
}

const reason =
  process.arch === "x64"
    ? ensureInstalled(["buildah", "qemu-user-static"])
    : `there is no executable for ${process.arch} here`;
try {
  if (reason === undefined) {
    await tryMachine("amd64", executable);
    await tryMachine("arm64", await buildArm64());
  } else skip("the image", reason);
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
