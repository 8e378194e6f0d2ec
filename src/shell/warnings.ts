import type { Log } from "../worker/log.ts";
import type { ShellConfig } from "./config.ts";

/** What an operator should know about the configuration, before the first call. */
export function warnAbout(config: ShellConfig, root: string | undefined, log: Log): void {
  if (config.allowlist.length === 0) {
    log.warn("every program may run", {
      reason: "allowlist is empty; whoever can call shell::exec can do whatever this user can",
    });
  }
  if (root === undefined) {
    log.warn("no jail", { reason: "shell::fs reaches every file of the host that this user can" });
  }
  if (root !== undefined && sharedFolders.has(root)) {
    log.warn("shared folder", {
      reason: `fs.host_root is ${root}, where every user and program of the host keeps files, among them configurations of other workers: calls can read and replace what is not theirs; serve a folder of its own`,
    });
  }
  if (config.default_timeout_ms > config.max_timeout_ms) {
    log.warn("default_timeout_ms is cut", { reason: "it is larger than max_timeout_ms, which is used" });
  }
}

const sharedFolders: ReadonlySet<string> = new Set([
  "/tmp",
  "/var/tmp",
  "/private/tmp",
  "/private/var/tmp",
  "/dev/shm",
]);
