/** Rulesets of Landlock (landlock(7)) for a policy, built again when what is denied has changed on disk. */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { type Denied, identityOf, readDenied } from "./denied.ts";
import { type Grant, grantAround } from "./grants.ts";
import type { Kernel } from "./kernel.ts";
import { fileAccess, handledAccess, readAccess, rulesetAttributes, writeAccess } from "./landlock.ts";

export interface FilePolicy {
  /** Canonical folders that may be written, with all below them. */
  readonly writable: readonly string[];
  /** Absolute paths that are neither read nor written, with all below them. */
  readonly denied: readonly string[];
  readonly network: boolean;
}

export interface RulesetSource {
  /** The ruleset as a descriptor, valid until the next call. Throws when the kernel makes none. */
  current(): number;
  close(): void;
}

/** Devices that every program may write, and query. Those that are not there are left out. */
const devices = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"].map(
  (name) => `/dev/${name}`,
);

/** The rules of a policy, on demand. */
export function openRulesets(kernel: Kernel, policy: FilePolicy): RulesetSource {
  let built:
    | { readonly ruleset: number; readonly split: readonly string[]; readonly version: string }
    | undefined;

  function build(denied: Denied, version: (split: readonly string[]) => string) {
    const parts = [
      grantAround("/", readAccess, denied),
      ...[...policy.writable, ...devices].map((path) => grantAround(path, writeAccess, denied)),
    ];
    const split = parts.flatMap((part) => part.split);
    // A folder that changes from here on makes the next call build again.
    const now = version(split);
    const ruleset = kernel.createRuleset(rulesetAttributes(kernel.landlockAbi, policy.network));
    for (const grant of parts.flatMap(({ grants }) => grants)) addGrant(kernel, ruleset, grant, denied);
    return { ruleset, split, version: now };
  }

  return {
    current() {
      const denied = readDenied(policy.denied, policy.writable);
      const version = (split: readonly string[]) => [denied.version, ...split.map(versionOf)].join("\n");
      if (built !== undefined && built.version === version(built.split)) return built.ruleset;
      this.close();
      built = build(denied, version);
      return built.ruleset;
    },
    close() {
      if (built !== undefined) closeSync(built.ruleset);
      built = undefined;
    },
  };
}

/** O_PATH of open(2), which node:fs does not name; the same on every Linux that Bun runs on. */
const pathOnly = 0o10000000;

/** Opens what is granted, so that it is what was checked. An entry that has gone, or has become a link, gets no rule. */
function addGrant(kernel: Kernel, ruleset: number, { path, access }: Grant, { identities }: Denied): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor, { bigint: true });
    if (stats.isSymbolicLink() || identities.has(identityOf(stats))) return;
    const known = access & handledAccess(kernel.landlockAbi);
    kernel.grant(ruleset, stats.isDirectory() ? known : known & fileAccess, descriptor);
  } catch {
    // What cannot be opened cannot be read by the commands either.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function versionOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${identityOf(stats)} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
