/**
 * Requests of Btrfs under the sandbox of commands, on a separate file system, as root and as a user without
 * rights: `npm run suite -- btrfs`. It needs root, a loop device, mkfs.btrfs(8) and setpriv(1).
 */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerOf } from "../case.ts";
import { startShell } from "../shell-fixture.ts";

const nobody = 65534;
const program = join(import.meta.dir, "attempts.ts");

/** Makes each attempt in a subvolume with a denied file. Returns the number of unexpected outcomes. */
async function tryIn(parent: string): Promise<number> {
  let wrong = 0;
  for (const name of ["snapshot", "snapshot-2", "subvolume"]) {
    for (const [os_sandbox, expected] of [
      ["off", "got through"],
      ["required", "stopped"],
    ] as const) {
      const folder = mkdtempSync(join(parent, "case-"));
      execFileSync("btrfs", ["-q", "subvolume", "create", join(folder, "served")]);
      const root = join(folder, "served");
      writeFileSync(join(root, ".env"), "secret\n");
      const fs = { host_root: root, denylist_paths: [join(root, ".env")] };
      const served = await startShell("executable", { allowlist: [process.execPath], os_sandbox, fs });
      const args = [program, name, root];
      const { stdout } = answerOf(await served.call("shell::exec", { command: process.execPath, args }));
      await served.stop();
      const isExpected = String(stdout).startsWith(expected);
      if (!isExpected) wrong++;
      const user = process.getuid?.() === 0 ? "root" : "nobody";
      console.log(
        `${isExpected ? "passed" : "failed"}: ${name} as ${user}, os_sandbox ${os_sandbox}: ${String(stdout).trim()}`,
      );
    }
  }
  return wrong;
}

const [given] = process.argv.slice(2);
if (given !== undefined) process.exit(await tryIn(given));

const folder = mkdtempSync(join(tmpdir(), "coder-"));
chmodSync(folder, 0o755);
const [image, mounted] = [join(folder, "image"), join(folder, "mounted")];
writeFileSync(image, "");
truncateSync(image, 1024 ** 3);
mkdirSync(mounted);
execFileSync("mkfs.btrfs", ["-q", image], { stdio: "ignore" });
execFileSync("mount", ["-o", "loop", image, mounted]);
try {
  for (const user of [0, nobody]) {
    const own = join(mounted, String(user));
    mkdirSync(own);
    chownSync(own, user, user);
    const identity = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
    execFileSync("setpriv", [...identity, process.execPath, import.meta.path, own], {
      stdio: "inherit",
      env: { ...process.env, HOME: own },
    });
  }
} finally {
  execFileSync("umount", [mounted]);
  rmSync(folder, { recursive: true });
}
