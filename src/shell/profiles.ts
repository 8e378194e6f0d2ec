import { autorunGlobs } from "../jail/autorun.ts";
import type { ShellConfig } from "./config.ts";

/** Defaults that differ between the profiles. */
export const shellProfileTable = {
  /** Whether the kernel confines commands, where the configuration does not say. */
  os_sandbox: { contract: "off", agent: "best" },
  /** The network of commands that the kernel confines, where the configuration does not say. */
  network: { contract: "none", agent: "loopback" },
  /** The same for `exec` and `exec_bg`. `undefined`: the beginning, as much as the configuration keeps. */
  "exec.max_output_bytes": { contract: undefined, agent: 65_536 },
  /** What `shell::fs::*` may read and not change, where the configuration does not say. */
  "fs.write_deny_globs": { contract: [], agent: autorunGlobs },
  /** Whether `status` shows what a running job has written. */
  "status.running_output": { contract: false, agent: true },
  /** The default of `unknown_fields`: whether a field that the function does not have is ignored or refused. */
  unknown_fields: { contract: "ignore", agent: "refuse" },
  /** Answers in JSON name functions as the transport does: tools over MCP. */
  transport_names: { contract: false, agent: true },
  /** Names and types of other tool sets are taken for what they mean. */
  forgiving_arguments: { contract: false, agent: true },
} as const;

type Table = typeof shellProfileTable;
type ProfileName = "contract" | "agent";

/** One column of the table. */
export type ShellProfile = { readonly [Key in keyof Table]: Table[Key][ProfileName] };

/** Returns the defaults of a configuration. `isAgent` says whether the worker serves MCP. */
export function shellProfileOf({ profile }: Pick<ShellConfig, "profile">, isAgent: boolean): ShellProfile {
  const byTransport = isAgent ? "agent" : "contract";
  const name = profile === "auto" ? byTransport : profile;
  return Object.fromEntries(
    Object.entries(shellProfileTable).map(([key, columns]) => [key, columns[name]]),
  ) as unknown as ShellProfile;
}
