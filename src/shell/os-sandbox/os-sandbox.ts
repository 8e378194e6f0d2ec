/** Confines commands by the rules of the kernel, so far as the system and the runtime have them. */
import { openKernel } from "./kernel.ts";
import { confineByKernel } from "./linux.ts";
import { profileRunner, runnerArguments } from "./seatbelt.ts";
import type { OsSandbox, SandboxPolicy } from "./types.ts";

/** The sandbox for a policy; undefined where this runtime or system can confine nothing. */
export function openOsSandbox(policy: SandboxPolicy): OsSandbox | undefined {
  if (process.platform === "darwin") return confineByProfile(policy);
  const { arch: architecture } = process;
  const kernel = openKernel();
  if (kernel === undefined || (architecture !== "x64" && architecture !== "arm64")) return undefined;
  return kernel.canRunFiles ? confineByKernel(kernel, architecture, policy) : undefined;
}

function confineByProfile(policy: SandboxPolicy): OsSandbox {
  return {
    holds: ["files", "truncation", "network", "signals"],
    lacks: ["system calls", "sessions", "limits"],
    // The system's rules know ports of this machine, and not whose they are.
    network: policy.network === "full" ? "full" : "none",
    hasMounts: false,
    keepsFiles: true,
    hidesProcesses: false,
    hasGroups: false,
    launch: ({ file, argv: [, ...args] }) => ({
      file: profileRunner,
      argv: ["sandbox-exec", ...runnerArguments(policy, file, args)],
      [Symbol.dispose]() {},
    }),
    hidden: () => [],
    kept: () => policy.findKept?.() ?? [],
    close() {},
  };
}
