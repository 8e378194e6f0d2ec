/**
 * Rulesets of Landlock (landlock(7)) for a policy, built again when the denied entries have changed on disk.
 */
import {
  type BigIntStats,
  close,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { planCovers } from "./covers.ts";
import { type Denied, generationOf, identityOf, openDenied } from "./denied.ts";
import type { EncodedCalls } from "./encoded-calls.ts";
import { areUnchanged, type Grant, grantAround, isBelow, ungrantedAt } from "./grants.ts";
import type { Kernel } from "./kernel.ts";
import {
  fileAccess,
  handledAccess,
  listAccess,
  readAccess,
  rulesetAttributes,
  writeAccess,
} from "./landlock.ts";
import { encodeCovers } from "./launcher.ts";
import { type Masks, openMasks } from "./masks.ts";
import { currentUser } from "./mounts.ts";
import { SharedRuns } from "./shared-runs.ts";
import type { Architecture } from "./syscalls.ts";

export interface FilePolicy {
  /** The canonical paths of folders that may be written, with everything below them. */
  readonly writable: readonly string[];
  /**
   * The canonical paths of folders that may be read and not written, if they lie in writable ones. A writable
   * folder in one of them stays writable.
   */
  readonly readOnly?: readonly string[] | undefined;
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

/** The rules that enforce a file policy on one state of the disk. */
export interface FileRules {
  /** A ruleset of Landlock as a descriptor. */
  readonly ruleset: number;
  /** The mounts that complete the ruleset, if any, which launchers share. */
  readonly mounts: EncodedCalls | undefined;
  /** The entries that `mounts` hide, if mounts can. */
  readonly masked: MaskedEntries | undefined;
}

/**
 * The denied entries that mounts hide. A mount stays with its entry: another one that gets the name later,
 * and is in no hidden folder, is not hidden.
 */
export interface MaskedEntries {
  readonly paths: readonly string[];
  /** Returns whether an entry is one of them, under any name. */
  has(stats: BigIntStats): boolean;
}

export interface RulesetSource {
  /**
   * Returns the rules for the disk as it is now, made in slices. Their descriptor stays open until they are
   * disposed of. Rejects if the kernel makes no ruleset.
   */
  current(): Promise<FileRules & Disposable>;
  /** The canonical paths of denied entries under the last rules. Each array belongs to one set of rules. */
  hidden(): readonly string[];
  /** The canonical paths that mounts of the last rules keep from being changed. */
  kept(): readonly string[];
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
  readonly hidden: readonly string[];
  readonly kept: readonly string[];
  /** The folders that are granted entry by entry, with their versions. */
  readonly split: ReadonlyMap<string, string>;
  /** The version of everything else that the rules depend on. */
  readonly version: string;
  /** The number of calls that still need the descriptor, and one more while these are the last rules. */
  users: number;
}

interface Guarded {
  readonly denied: Denied;
  readonly kept: readonly string[];
  /** The folders of the policy that exist. */
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
}

export interface MountAbilities {
  readonly architecture: Architecture;
  /** Whether mounts hide the denied entries in writable folders. */
  readonly canMount: boolean;
  /** The mount that becomes /proc, if any. */
  readonly processes: number | undefined;
  /** The folder for files that are mounted over denied ones. Commands cannot write it. */
  readonly maskFolder: string;
}

/** Opens the rules of a policy, which are built on demand. */
export function openRulesets(kernel: Kernel, policy: FilePolicy, abilities: MountAbilities): RulesetSource {
  let built: BuiltRules | undefined;
  const findDenied = openDenied(policy);
  const masks = openMasks(abilities.maskFolder, currentUser().uid === 0);
  const renewals = new SharedRuns((calls) => runInSlices(renew(calls), createTimeSlice()));

  /** Returns the rules with `calls` more users. */
  function* renew(calls: number): Steps<BuiltRules> {
    const denied = yield* findDenied();
    const kept = abilities.canMount ? yield* existing(policy.findKept?.() ?? []) : [];
    const writable = yield* existing(policy.writable);
    const readOnly = yield* existing(policy.readOnly ?? []);
    const identities = [...writable, ...readOnly].map(generationAt);
    const version = JSON.stringify([denied.version, kept, writable, readOnly, identities]);
    let rules = built;
    // The source may be closed between two steps.
    if (rules?.version !== version || !(yield* areUnchanged(rules.split)) || built !== rules) {
      const made = yield* buildRules(
        { denied, kept, writable, readOnly },
        { kernel, policy, abilities, masks },
      );
      rules = { ...made, version, users: 1 };
      closeBuilt();
      built = rules;
    }
    rules.users += calls;
    return rules;
  }

  function closeBuilt(): void {
    if (built !== undefined) release(built);
    built = undefined;
  }

  return {
    async current() {
      const rules = await renewals.join();
      const { ruleset, mounts, masked } = rules;
      return { ruleset, mounts, masked, [Symbol.dispose]: () => release(rules) };
    },
    hidden: () => built?.hidden ?? none,
    kept: () => built?.kept ?? none,
    close: closeBuilt,
  };
}

interface Building {
  readonly kernel: Kernel;
  readonly policy: FilePolicy;
  readonly abilities: MountAbilities;
  readonly masks: Masks;
}

function* buildRules(
  { denied, kept, writable, readOnly }: Guarded,
  { kernel, policy, abilities: { architecture, canMount, processes }, masks }: Building,
): Steps<Omit<BuiltRules, "version" | "users">> {
  const { covers, rest, ...plan } = canMount
    ? yield* planCovers(denied, {
        writable,
        readOnly,
        kept,
        maskOf: masks.over,
        stashOf: masks.stashOf,
      })
    : { covers: [], hidden: [], kept: [], rest: denied.paths };
  yield;
  const mounts = covers.length === 0 ? undefined : yield* encodeCovers(covers, architecture);
  const ungranted = yield* ungrantedAt(rest);
  // These get grants of their own, which include this access to each of their entries.
  const apart = [deviceFolder, ...writable.filter((path) => ungranted.above.has(path))];
  // Without mounts, a folder around a read-only one is granted entry by entry.
  const unwritten = canMount ? none : readOnly.filter((path) => !writable.includes(path));
  const writes = [];
  for (const folder of writable) {
    const inside = unwritten.filter((path) => isBelow(path, folder));
    writes.push({
      folder,
      ungranted: inside.length === 0 ? ungranted : yield* ungrantedAt([...rest, ...inside]),
    });
  }
  const split = new Map<string, string>();
  const parts = [
    grantAround("/", { access: readAccess, ungranted: yield* ungrantedAt([...rest, ...apart]), split }),
    grantAround(deviceFolder, { access: listAccess, ungranted, split }),
    ...unwritten.map((path) => grantAround(path, { access: readAccess, ungranted, split })),
    ...[...writes, ...devices.map((folder) => ({ folder, ungranted }))].map((one) =>
      grantAround(one.folder, { access: readAccess | writeAccess, ungranted: one.ungranted, split }),
    ),
  ];
  const ruleset = kernel.createRuleset(rulesetAttributes(kernel.landlockAbi, policy.network !== "none"));
  for (const part of parts) yield* addGrants(kernel, ruleset, part, denied);
  if (processes !== undefined)
    kernel.grant(ruleset, readAccess & handledAccess(kernel.landlockAbi), processes);
  const has = (stats: BigIntStats) => denied.generations.has(generationOf(stats));
  const masked = canMount ? { paths: plan.hidden, has } : undefined;
  return { ruleset, mounts, masked, hidden: [...plan.hidden, ...rest], kept: plan.kept, split };
}

const none: readonly string[] = [];

/** Closes the descriptor if it has no other users. */
function release(rules: BuiltRules): void {
  rules.users--;
  // Freeing very many rules takes the kernel hundreds of milliseconds. So another thread does it.
  if (rules.users === 0) close(rules.ruleset, () => {});
}

/** O_PATH of open(2), which node:fs does not name; the same on every Linux that Bun runs on. */
const pathOnly = 0o10000000;

function* existing(paths: readonly string[]): Steps<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (existsSync(path)) found.push(path);
    yield;
  }
  return found;
}

function generationAt(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : generationOf(stats);
}

/** Adds rules for the grants, one in each step. */
function* addGrants(
  kernel: Kernel,
  ruleset: number,
  parts: Iterable<readonly Grant[]>,
  denied: Denied,
): Steps<void> {
  for (const grants of parts) {
    for (const grant of grants) {
      addGrant(kernel, ruleset, grant, denied);
      yield;
    }
    yield;
  }
}

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
