/**
 * `npm run suite -- image`: builds the image of the Dockerfile with buildah and runs it, on Debian for x64 as
 * root. The last line says `N passed, N failed, N skipped`.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, root } from "../../scripts/build.ts";
import { ensureInstalled } from "../../scripts/release/debian.ts";
import { prepareImage } from "../../scripts/release/image.ts";
import { run } from "../../scripts/release/packages.ts";
import { check, skip, totals } from "../../scripts/release/trial/checks.ts";

/** The user of the image. */
const user = 65_532;

const base = mkdtempSync(join(tmpdir(), "coder-image-"));
const storage = ["--storage-driver", "vfs", "--root", join(base, "root"), "--runroot", join(base, "run")];
const buildah = (...args: string[]) => run(["buildah", ...storage, ...args]);

function tryImage(container: string): Promise<unknown>[] {
  const [project, state] = [join(base, "project"), join(base, "state")];
  for (const folder of [project, state]) {
    mkdirSync(folder);
    chownSync(folder, user, user);
  }
  const start = (args: string[], input = "", access = "rw") => {
    const volumes = ["--volume", `${project}:/project:${access}`, "--volume", `${state}:/state`];
    const command = [
      "buildah",
      ...storage,
      "run",
      "--isolation",
      "chroot",
      ...volumes,
      container,
      "--",
      ...args,
    ];
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input) });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  const coder = "/usr/local/bin/coder";
  return [
    check("the image has no shell", () => equal(start(["/bin/sh", "-c", "true"]).exitCode, 1)),
    check("it serves MCP as the configuration of the image says", () => {
      const { OCIv1: image } = JSON.parse(buildah("inspect", container));
      const { Entrypoint, Cmd, User, Volumes } = image.config;
      deepEqual([User, Volumes], [`${user}:${user}`, { "/state": {} }]);
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "a", version: "1" },
      };
      const hello = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
      match(start([...Entrypoint, ...Cmd], hello).stdout, /"serverInfo"/);
    }),
    check("its user writes the project", () => {
      const payload = JSON.stringify({ files: [{ path: "a", content: "a\n" }] });
      const call = start([coder, "call", "create-file", payload, "--base-path", "/project"]);
      equal(call.exitCode, 0, call.stderr);
      deepEqual([readFileSync(join(project, "a"), "utf8"), statSync(join(project, "a")).uid], ["a\n", user]);
    }),
    check("a project that is mounted read-only stays as it is", () => {
      const payload = JSON.stringify({ paths: ["a"] });
      const call = start([coder, "call", "delete-file", payload, "--base-path", "/project"], "", "ro");
      equal(call.exitCode, 3, call.stderr);
      equal(readFileSync(join(project, "a"), "utf8"), "a\n");
    }),
  ];
}

const reason =
  process.arch === "x64" ? ensureInstalled(["buildah"]) : `there is no executable for ${process.arch} here`;
try {
  if (reason === undefined) {
    prepareImage(executable, "amd64");
    await check("buildah builds the Dockerfile", () =>
      buildah("build", "--isolation", "chroot", "--tag", "coder", root),
    );
    await Promise.all(tryImage(buildah("from", "localhost/coder").trim()));
    console.log(`size of the image: ${buildah("images", "--format", "{{.Size}}", "localhost/coder").trim()}`);
  } else skip("the image", reason);
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
