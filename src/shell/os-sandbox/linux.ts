/** The sandbox of Linux: landlock(7), seccomp(2), setrlimit(2) and no_new_privs of prctl(2). */
import { closeSync } from "node:fs";
import { createTurnSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { type ControlGroup, openControlGroups } from "./control-groups.ts";
import { readDenied } from "./denied.ts";
import { isWithin } from "./grants.ts";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { landlockSince } from "./landlock.ts";
import { buildLauncher } from "./launcher.ts";
import { openLoopback } from "./loopback.ts";
import { openProcesses, tryMounts } from "./mount-trial.ts";
import { currentUser } from "./mounts.ts";
import { openRulesets } from "./ruleset.ts";
import { buildFilter } from "./seccomp.ts";
import type { Architecture } from "./syscalls.ts";
import type { Guarantee, OsSandbox, SandboxPolicy } from "./types.ts";

/** Functions that find out by trying what the system supports. */
interface Trials {
  /** Returns whether a launcher gets mounts of its own. */
  readonly canMount?: typeof tryMounts;
  /** Makes a /proc without the processes of others. */
  readonly openHidden?: typeof openProcesses;
  /** Makes a network for commands only. */
  readonly openNetwork?: typeof openLoopback;
  /** Opens control groups, if the worker may make some. */
  readonly openGroups?: typeof openControlGroups;
}

/** The slice of all starts of commands, since many may have waited for the same rules. */
const slice = createTurnSlice();

/** Opens the sandbox for a policy, with the features of this kernel. */
export function confineByKernel(
  kernel: Kernel,
  architecture: Architecture,
  policy: SandboxPolicy,
  trials: Trials = {},
): OsSandbox {
  const { loopback, network, kept, hasMounts, processes } = tryAll(kernel, architecture, policy, trials);
  const all = Object.keys(kept) as Guarantee[];
  const hidesProcesses = processes !== undefined;
  const abilities = { architecture, canMount: hasMounts, processes, maskFolder: policy.maskFolder };
  const rulesets = openRulesets(kernel, { ...policy, network }, abilities);
  const groups = (trials.openGroups ?? openControlGroups)();
  const filter = kernel.hasSeccomp ? buildFilter({ architecture, network }) : undefined;
  const namespaces = loopback?.kinds ?? [];
  const inherited = [...(loopback?.descriptors ?? []), ...(hidesProcesses ? [processes] : [])];
  return {
    holds: all.filter((name) => kept[name]),
    lacks: all.filter((name) => !kept[name]),
    network,
    hasMounts,
    keepsFiles: hasMounts,
    hidesProcesses,
    hasGroups: groups !== undefined,
    async launch({ file, argv }) {
      const used = kept.files ? await rulesets.current() : undefined;
      let group: ControlGroup | undefined;
      try {
        if (slice.isDue) await slice.yieldIfDue();
        group = groups?.create(policy.processes);
        const { mounts: covers, masked } = used ?? {};
        const needsMounts = hidesProcesses || covers !== undefined;
        const mounts = needsMounts ? { covers, hidesProcesses, user: currentUser() } : undefined;
        const limits = await policy.limits(namespaces.includes("user"));
        const rules = { limits, hasRuleset: kept.files, filter, mounts, namespaces, group };
        const parts = buildLauncher({ architecture, file, ...rules });
        const image = await runInSlices(makeImage(kernel, parts), slice);
        const close = () => {
          closeSync(image);
          used?.[Symbol.dispose]();
        };
        const descriptor = used?.ruleset ?? image;
        const place = `/proc/self/fd/${image}`;
        const launch = { file: place, argv, descriptor, inherited, masked, ...(group && { group }) };
        return { ...launch, [Symbol.dispose]: close };
      } catch (error) {
        group?.remove();
        used?.[Symbol.dispose]();
        throw error;
      }
    },
    hidden: rulesets.hidden,
    kept: rulesets.kept,
    close() {
      rulesets.close();
      groups?.close();
      loopback?.close();
      if (hidesProcesses) closeSync(processes);
    },
  };
}

/** Finds out which parts of a policy the system supports. */
function tryAll(
  kernel: Kernel,
  architecture: Architecture,
  policy: SandboxPolicy,
  { canMount = tryMounts, openHidden = openProcesses, openNetwork = openLoopback }: Trials,
) {
  const loopback = policy.network === "loopback" ? openNetwork(kernel, architecture) : undefined;
  const isWithout = policy.network === "loopback" && loopback === undefined;
  const network = isWithout ? "none" : policy.network;
  const kept = keptBy(kernel, network === "full");
  const hasMounts = kept.files && mayCover(policy) && canMount(kernel, architecture);
  const processes = kept.files && mayHideProcesses(policy) ? openHidden(kernel, architecture) : undefined;
  return { loopback, network, kept, hasMounts, processes } as const;
}

/** Returns whether entries may be denied or kept in a folder that commands write. */
const mayCover = ({ denied, findDenied, findKept, writable, readOnly = [] }: SandboxPolicy): boolean =>
  findDenied !== undefined ||
  findKept !== undefined ||
  readOnly.length > 0 ||
  denied
    .flatMap((path) => [path, ...readDenied([path], []).paths])
    .some((path) => writable.some((folder) => isWithin(path, folder)));

/** Returns whether no path in /proc is denied. Another mount has other files. */
const mayHideProcesses = ({ denied }: SandboxPolicy): boolean =>
  !denied.some((path) => isWithin(path, "/proc"));

/** Returns the guarantees that a kernel keeps. */
export const keptBy = (
  { landlockAbi, hasSeccomp }: Pick<Kernel, "landlockAbi" | "hasSeccomp">,
  isOpen: boolean,
): Readonly<Record<Guarantee, boolean>> => ({
  files: landlockAbi > 0,
  truncation: landlockAbi >= landlockSince.truncate,
  network: isOpen || hasSeccomp,
  signals: landlockAbi >= landlockSince.scopes,
  "system calls": hasSeccomp,
  sessions: hasSeccomp,
  limits: true,
});
