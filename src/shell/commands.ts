/** Commands beside the functions of another worker, in the tree that it serves. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { defaultShellConfig, type ShellConfig, shellConfigSchema } from "./config.ts";
import { exec } from "./exec.ts";
import { execBg } from "./exec_bg.ts";
import { kill } from "./kill.ts";
import { list } from "./list.ts";
import { status } from "./status.ts";
import { withCommandApproval } from "./with-approval.ts";

/** The functions that run commands and follow them. */
export const commandFunctions: readonly FunctionDefinition[] = [
  withCommandApproval(exec),
  withCommandApproval(execBg),
  status,
  kill,
  list,
];

/** The keys of the shell worker that concern its files, or that every worker has. */
const otherKeys = [
  "fs",
  "working_dir",
  "sandbox",
  "private_jobs",
  "index",
  "index_max_bytes",
  "audit",
  "quotas",
  "journal",
  "profile",
  "unknown_fields",
  "max_answer_bytes",
] as const;

const keysOfCommands = Type.Omit(shellConfigSchema, otherKeys) as unknown as TObject<
  Omit<(typeof shellConfigSchema)["properties"], (typeof otherKeys)[number]>
>;

/** The key `commands` of a worker. */
export const CommandsKey = Type.Union([Type.Null(), keysOfCommands], {
  default: null,
  description: `Commands over MCP, beside the functions on files, in the same folders and hidden from the same files: a mapping, which may be empty, of ${Object.keys(keysOfCommands.properties).join(", ")}, as in the configuration of the shell worker. null means none, unless \`coder mcp --commands\` enables them.`,
});

export type CommandsConfig = Static<typeof keysOfCommands>;

/** The settings that all functions of the worker share. */
export type SharedKeys = Pick<
  ShellConfig,
  "profile" | "unknown_fields" | "max_answer_bytes" | "audit" | "journal"
>;

interface CommandOptions {
  /** Programs that may run in addition to those of the list. */
  readonly allow: readonly string[];
  /** Host path of the folder that commands run in. */
  readonly folder: string;
  readonly shared: SharedKeys;
}

/** Returns the configuration of commands over MCP. */
export function shellConfigFor(
  commands: CommandsConfig | null,
  { allow, folder, shared }: CommandOptions,
): ShellConfig {
  const byDefault = defaultShellConfig();
  const fs = { ...byDefault.fs, host_root: folder };
  const config = { ...byDefault, ...commands, ...shared, fs };
  const isOpen = config.allowlist.length === 0;
  return { ...config, allowlist: isOpen ? [] : [...new Set([...config.allowlist, ...allow])] };
}
