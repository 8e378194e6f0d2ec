/**
 * Rulesets of Landlock (landlock(7)) for a policy, built again when the denied entries have changed on disk.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { type Cover, planCovers } from "./covers.ts";
import { type Denied, identityOf, openDenied } from "./denied.ts";
import { type Grant, grantAround } from "./grants.ts";
import type { Kernel } from "./kernel.ts";
import {
  fileAccess,
  handledAccess,
  listAccess,
  readAccess,
  rulesetAttributes,
  writeAccess,
} from "./landlock.ts";
import { openMasks } from "./masks.ts";
import { currentUser } from "./mounts.ts";

export interface FilePolicy {
  /** The canonical paths of folders that may be written, with everything below them. */
  readonly writable: readonly string[];
  /** The absolute paths of entries that are neither read nor written, with everything below them. */
  readonly denied: readonly string[];
  /** Finds further denied paths, as of now. */
  readonly findDenied?: (() => readonly string[]) | undefined;
  /**
   * Finds the canonical paths of entries in writable folders that may be read but not changed, if mounts can
   * protect them.
   */
  readonly findKept?: (() => readonly string[]) | undefined;
  readonly network: Network;
}

/** The network that commands reach: none, one another on loopback, or the full network of the system. */
export type Network = "none" | "loopback" | "full";

/** The rules that enforce a file policy on the disk as it is now. */
export interface FileRules {
  /** A ruleset of Landlock as a descriptor, valid until the next rules are made. */
  readonly ruleset: number;
  /** The mounts that complete the ruleset. */
  readonly covers: readonly Cover[];
}

export interface RulesetSource {
  /**
   * Returns the rules for the disk as it is now, made in slices. Use them at once. Rejects if the kernel
   * makes no ruleset.
   */
  current(): Promise<FileRules>;
  /** The mounts of the last rules. */
  covered(): readonly Cover[];
  /** The canonical paths of denied entries that the last rules hide without a mount. */
  withheld(): readonly string[];
  close(): void;
}

const deviceFolder = "/dev";

/**
 * The devices that every program may read, write and query, if they exist. With others, a command of root
 * could read denied files from the disk itself.
 */
const devices = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"].map((name) =>
  join(deviceFolder, name),
);

interface BuiltRules extends FileRules {
  readonly withheld: readonly string[];
  readonly split: readonly string[];
  readonly version: string;
}

interface Guarded {
  readonly denied: Denied;
  readonly kept: readonly string[];
}

export interface MountAbilities {
  /** Whether mounts hide the denied entries in writable folders. */
  readonly canMount: boolean;
  /** The mount that becomes /proc, if any. */
  readonly processes: number | undefined;
  /** The folder for files that are mounted over denied ones. Commands cannot write it. */
  readonly maskFolder: string;
}

/** Opens the rules of a policy, which are built on demand. */
export function openRulesets(
  kernel: Kernel,
  policy: FilePolicy,
  { canMount, processes, maskFolder }: MountAbilities,
): RulesetSource {
  let built: BuiltRules | undefined;
  const findDenied = openDenied(policy);
  const masks = openMasks(maskFolder, currentUser().uid === 0);

  function* build(
    { denied, kept }: Guarded,
    version: (split: readonly string[]) => string,
  ): Steps<BuiltRules> {
    const { covers, rest } = canMount
      ? planCovers(denied, { writable: policy.writable, kept, maskOf: masks.over })
      : { covers: [], rest: denied };
    const parts = [
      grantAround("/", readAccess, { ...rest, paths: new Set([...rest.paths, deviceFolder]) }),
      grantAround(deviceFolder, listAccess, rest),
      ...[...policy.writable, ...devices].map((path) => grantAround(path, readAccess | writeAccess, rest)),
    ];
    const split = parts.flatMap((part) => part.split);
    // A change of a folder after this makes the next call build again.
    const now = version(split);
    const ruleset = kernel.createRuleset(rulesetAttributes(kernel.landlockAbi, policy.network !== "none"));
    for (const grant of parts.flatMap(({ grants }) => grants)) {
      addGrant(kernel, ruleset, grant, denied);
      yield;
    }
    if (processes !== undefined)
      kernel.grant(ruleset, readAccess & handledAccess(kernel.landlockAbi), processes);
    return { ruleset, covers, withheld: [...rest.paths], split, version: now };
  }

  function* renew(): Steps<BuiltRules> {
    const denied = yield* findDenied();
    const kept = canMount ? (policy.findKept?.() ?? []).filter((path) => existsSync(path)) : [];
    const version = (split: readonly string[]) =>
      [denied.version, "", ...kept, "", ...split.map(versionOf)].join("\n");
    if (built !== undefined && built.version === version(built.split)) return built;
    const renewed = yield* build({ denied, kept }, version);
    close();
    built = renewed;
    return renewed;
  }

  function close(): void {
    if (built !== undefined) closeSync(built.ruleset);
    built = undefined;
  }

  return {
    current: () => runInSlices(renew(), createTimeSlice()),
    covered: () => built?.covers ?? [],
    withheld: () => built?.withheld ?? [],
    close,
  };
}

/** O_PATH of open(2), which node:fs does not name; the same on every Linux that Bun runs on. */
const pathOnly = 0o10000000;

/**
 * Opens the granted entry, so that the rule is for the one that was checked. An entry that has gone or become
 * a link gets no rule.
 */
function addGrant(kernel: Kernel, ruleset: number, { path, access }: Grant, { identities }: Denied): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor, { bigint: true });
    if (stats.isSymbolicLink() || identities.has(identityOf(stats))) return;
    const known = access & handledAccess(kernel.landlockAbi);
    kernel.grant(ruleset, stats.isDirectory() ? known : known & fileAccess, descriptor);
  } catch {
    // Commands cannot read an entry that cannot be opened.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function versionOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${identityOf(stats)} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
