/** The sandbox of Linux: landlock(7), seccomp(2), setrlimit(2) and no_new_privs of prctl(2). */
import { closeSync } from "node:fs";
import { readDenied } from "./denied.ts";
import { isWithin } from "./grants.ts";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { landlockSince } from "./landlock.ts";
import { buildLauncher } from "./launcher.ts";
import { tryMounts } from "./mount-trial.ts";
import { currentUser } from "./mounts.ts";
import { openRulesets } from "./ruleset.ts";
import { buildFilter } from "./seccomp.ts";
import type { Architecture } from "./syscalls.ts";
import type { Guarantee, OsSandbox, SandboxPolicy } from "./types.ts";

/** The sandbox for a policy, with what this kernel has. `canMount` tries whether a launcher gets mounts of its own. */
export function confineByKernel(
  kernel: Kernel,
  architecture: Architecture,
  policy: SandboxPolicy,
  canMount = tryMounts,
): OsSandbox {
  const kept = keptBy(kernel, policy.network);
  const all = Object.keys(kept) as Guarantee[];
  const hasMounts = kept.files && mayCover(policy) && canMount(kernel, architecture);
  const rulesets = openRulesets(kernel, policy, hasMounts);
  const filter = kernel.hasSeccomp ? buildFilter({ architecture, network: policy.network }) : undefined;
  return {
    holds: all.filter((name) => kept[name]),
    lacks: all.filter((name) => !kept[name]),
    hasMounts,
    launch({ file, argv }) {
      const { ruleset, covers = [] } = kept.files ? rulesets.current() : {};
      const mounts = covers.length > 0 ? { covers, user: currentUser() } : undefined;
      const limits = policy.limits();
      const confinement = { architecture, file, limits, hasRuleset: kept.files, filter, mounts };
      const image = makeImage(kernel, buildLauncher(confinement));
      return {
        file: `/proc/self/fd/${image}`,
        argv,
        descriptor: ruleset ?? image,
        [Symbol.dispose]: () => closeSync(image),
      };
    },
    close: () => rulesets.close(),
  };
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
