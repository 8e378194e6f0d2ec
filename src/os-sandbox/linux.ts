/** The sandbox of Linux: landlock(7), seccomp(2), setrlimit(2) and no_new_privs of prctl(2). */
import { closeSync } from "node:fs";
import { type ControlGroup, openControlGroups } from "./control-groups.ts";
import { readDenied } from "./denied.ts";
import { isWithin } from "./grants.ts";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { landlockSince } from "./landlock.ts";
import { buildLauncher, type Confinement } from "./launcher.ts";
import { tryMounts } from "./mount-trial.ts";
import { currentUser } from "./mounts.ts";
import { openRulesets } from "./ruleset.ts";
import { buildFilter } from "./seccomp.ts";
import type { Architecture } from "./syscalls.ts";
import type { Guarantee, OsSandbox, SandboxPolicy } from "./types.ts";

/** What finds out by trying. */
interface Trials {
  /** Whether a launcher gets mounts of its own. */
  readonly canMount?: typeof tryMounts;
  /** Whether the worker may make control groups. */
  readonly openGroups?: typeof openControlGroups;
}

/** The sandbox for a policy, with what this kernel has. */
export function confineByKernel(
  kernel: Kernel,
  architecture: Architecture,
  policy: SandboxPolicy,
  { canMount = tryMounts, openGroups = openControlGroups }: Trials = {},
): OsSandbox {
  const kept = keptBy(kernel, policy.network);
  const all = Object.keys(kept) as Guarantee[];
  const hasMounts = kept.files && mayCover(policy) && canMount(kernel, architecture);
  const rulesets = openRulesets(kernel, policy, hasMounts);
  const groups = openGroups();
  const filter = kernel.hasSeccomp ? buildFilter({ architecture, network: policy.network }) : undefined;
  return {
    holds: all.filter((name) => kept[name]),
    lacks: all.filter((name) => !kept[name]),
    hasMounts,
    hasGroups: groups !== undefined,
    launch({ file, argv }) {
      const { ruleset, covers = [] } = kept.files ? rulesets.current() : {};
      const mounts = covers.length > 0 ? { covers, user: currentUser() } : undefined;
      const limits = policy.limits();
      const group = groups?.create(policy.processes);
      const confinement = { architecture, file, limits, hasRuleset: kept.files, filter, mounts, group };
      const image = makeLauncher(kernel, confinement);
      return {
        file: `/proc/self/fd/${image}`,
        argv,
        descriptor: ruleset ?? image,
        ...(group && { group }),
        [Symbol.dispose]: () => closeSync(image),
      };
    },
    close() {
      rulesets.close();
      groups?.close();
    },
  };
}

/** Makes its image. Throws when the system has no more descriptors; then the group is gone. */
function makeLauncher(
  kernel: Kernel,
  confinement: Confinement & { group: ControlGroup | undefined },
): number {
  try {
    return makeImage(kernel, buildLauncher(confinement));
  } catch (error) {
    confinement.group?.remove();
    throw error;
  }
}

/** Whether something may be denied in a folder that commands write. */
const mayCover = ({ denied, writable }: SandboxPolicy): boolean =>
  denied
    .flatMap((path) => [path, ...readDenied([path], []).paths])
    .some((path) => writable.some((folder) => isWithin(path, folder)));

/** Which guarantees a kernel keeps. */
export const keptBy = (
  { landlockAbi, hasSeccomp }: Pick<Kernel, "landlockAbi" | "hasSeccomp">,
  network: boolean,
): Readonly<Record<Guarantee, boolean>> => ({
  files: landlockAbi > 0,
  truncation: landlockAbi >= landlockSince.truncate,
  network: network || hasSeccomp,
  signals: landlockAbi >= landlockSince.scopes,
  "system calls": hasSeccomp,
  sessions: hasSeccomp,
  limits: true,
});
