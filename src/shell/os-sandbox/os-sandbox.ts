/** Confines commands by those rules of the kernel that the system and the runtime support. */
import { openKernel } from "./kernel.ts";
import { confineByKernel } from "./linux.ts";
import { profileRunner, runnerArguments } from "./seatbelt.ts";
import type { OsSandbox, SandboxPolicy } from "./types.ts";

/** Opens the sandbox for a policy. Returns `undefined` if this runtime or system cannot confine anything. */
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
    // The rules of the system distinguish ports, but not their owners.
    network: policy.network === "full" ? "full" : "none",
    hasMounts: false,
    keepsFiles: true,
    hidesProcesses: false,
    hasGroups: false,
    launch: async ({ file, argv: [, ...args] }) => ({
      file: profileRunner,
      argv: ["sandbox-exec", ...runnerArguments(policy, file, args)],
      [Symbol.dispose]() {},
    }),
    hidden: () => [],
    kept: () => policy.findKept?.() ?? [],
    close() {},
  };
}
