/** The sandbox of Linux: landlock(7), seccomp(2), setrlimit(2) and no_new_privs of prctl(2). */
import { closeSync, writeSync } from "node:fs";
import type { Kernel } from "./kernel.ts";
import { landlockSince } from "./landlock.ts";
import { buildLauncher } from "./launcher.ts";
import { openRulesets } from "./ruleset.ts";
import { buildFilter } from "./seccomp.ts";
import type { Architecture } from "./syscalls.ts";
import type { Guarantee, OsSandbox, SandboxPolicy } from "./types.ts";

/** The sandbox for a policy, with what this kernel has. */
export function confineByKernel(
  kernel: Kernel,
  architecture: Architecture,
  policy: SandboxPolicy,
): OsSandbox {
  const kept = keptBy(kernel, policy.network);
  const all = Object.keys(kept) as Guarantee[];
  const rulesets = openRulesets(kernel, policy);
  const filter = kernel.hasSeccomp ? buildFilter({ architecture, network: policy.network }) : undefined;
  return {
    holds: all.filter((name) => kept[name]),
    lacks: all.filter((name) => !kept[name]),
    launch({ file, argv }) {
      const ruleset = kept.files ? rulesets.current() : undefined;
      const confinement = { architecture, file, limits: policy.limits(), hasRuleset: kept.files, filter };
      const image = makeFile(kernel, buildLauncher(confinement));
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

function makeFile(kernel: Kernel, content: Buffer): number {
  const descriptor = kernel.createFile("launcher");
  if (descriptor === undefined) throw new Error("no file in memory can be made");
  writeSync(descriptor, content);
  return descriptor;
}

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
