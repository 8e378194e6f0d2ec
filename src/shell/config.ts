/** The keys of the configuration of `shell`, each with its type, bounds, default and meaning. */
import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { maxAnswerBytes } from "../base/schema/message-size.ts";
import { UnknownFieldsKey } from "../base/schema/unknown-fields-key.ts";
import { validate } from "../base/schema/validate.ts";
import { AuditKey } from "../calls/audit/audit-config.ts";
import type { OpenOptions } from "../calls/contract/definition.ts";
import { QuotasKey } from "../calls/quotas/quotas-config.ts";
import { readLaunchVariables } from "../config/environment.ts";
import { ConfigError, checkKeys, type Keys } from "../config/file.ts";
import { requireNamedBase } from "../config/source.ts";
import { autorunGlobs } from "../filesystem/jail/autorun.ts";
import { secretGlobs } from "../filesystem/jail/secret-globs.ts";
import { JournalKey } from "../filesystem/journal/journal-config.ts";
import { shellCodes } from "./error-codes.ts";
import { osSandboxKeys } from "./os-sandbox-keys.ts";
import { defaultAllowlist } from "./programs/policy.ts";

const Count = (byDefault: number, maximum: number, description: string) =>
  Type.Integer({ minimum: 0, maximum, default: byDefault, description });

const Flag = (byDefault: boolean, description: string) => Type.Boolean({ default: byDefault, description });

const Texts = (byDefault: readonly string[], description: string) =>
  Type.Array(Type.String(), { default: [...byDefault], description });

const Path = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { default: null, description });

/** Returns the schema of a group of keys. The group and all its keys are optional. */
const Group = <Keys extends TProperties>(keys: Keys, description: string) =>
  Type.Object(keys, {
    description,
    default: Object.fromEntries(
      Object.entries(keys).map(([name, key]: [string, TSchema]) => [name, key.default]),
    ),
  });

const largestTime = 24 * 3600 * 1000;
const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

/** The published default of `denylist_patterns`. */
export const defaultDenylist: readonly string[] = [
  String.raw`rm\s+-rf\s+/`,
  String.raw`:\(\)\s*\{\s*:\|`,
  "mkfs",
  String.raw`dd\s+if=`,
  "shutdown",
  "reboot",
  "/etc/passwd",
  "/etc/shadow",
  String.raw`\bfind\b[^|;&]*-exec(dir)?\b`,
  String.raw`\bawk\b[^|;&]*system\s*\(`,
  String.raw`\bsed\b[^|;&]*(-i\b|\be\b)`,
  String.raw`\bcurl\b[^|;&]*(file://|-o\s|--output-dir\b|-F\s+@)`,
  String.raw`\bgit\b[^|;&]*(--upload-pack|--receive-pack|core\.pager|core\.hooksPath|GIT_SSH_COMMAND)`,
  String.raw`\b(node|python3?)\b[^|;&]*\s-(e|c)\b`,
  String.raw`\bnpm\b[^|;&]*\brun\b`,
];

/** The published default of `allowed_env`. */
export const defaultAllowedEnv: readonly string[] = ["PATH", "HOME", "LANG", "LC_ALL", "TERM"];

/** The keys of the configuration file (shell §3; those from `private_jobs` on are this worker's own). */
export const shellConfigSchema = Type.Object({
  max_timeout_ms: Count(
    30_000,
    largestTime,
    "Most milliseconds that a command may run, whatever the call asks for. Clients of the bus give up after 30 seconds unless told otherwise: give yours a longer timeout where a command may take nearly that long, or its answer comes too late.",
  ),
  default_timeout_ms: Count(
    10_000,
    largestTime,
    "Milliseconds that a command may run when the call gives no timeout_ms. At most max_timeout_ms.",
  ),
  max_output_bytes: Count(
    mebibyte,
    64 * mebibyte,
    "Bytes kept of each of the two outputs of a command; what comes after is thrown away, and the answer says so.",
  ),
  working_dir: Path(
    "The folder that commands run in. null is the folder of --base-path, or else the worker's own current folder.",
  ),
  inherit_env: Flag(false, "Give commands the worker's whole environment."),
  allowed_env: Texts(
    defaultAllowedEnv,
    "Environment variables that commands get when inherit_env is false. In the profile agent they get LANG, TERM, CI and others that run no code besides; callers may set those and the ones named here; and HOME is a folder of their own, unless this list is not the default and names HOME.",
  ),
  allowlist: Texts(
    defaultAllowlist,
    "Programs that may run: names, looked up in folders of the operating system, or absolute paths. An empty list lets everything run. As long as it is the default, arguments of sort, uniq, date and hostname that run programs, write files or change the system are refused.",
  ),
  denylist_patterns: Texts(
    defaultDenylist,
    "Regular expressions (Rust's dialect) on the whole command line; a command that one matches is refused. Advice only: there are other ways to spell a command. As long as it is the default, and os_sandbox keeps files from commands in the profile agent, only what removes everything at once is refused: the sandbox holds against the rest.",
  ),
  max_concurrent_jobs: Count(16, 1024, "Background jobs that may run at once. 0 refuses them all."),
  job_retention_secs: Count(3600, 365 * 24 * 3600, "Seconds that the record of an ended job is kept."),
  fs: Group(
    {
      host_root: {
        ...Path(
          "The folder that shell::fs::* is confined to. It must exist. With null the worker starts only if allow_unjailed is true.",
        ),
        example: ".",
      },
      allow_unjailed: Flag(false, "Let shell::fs::* reach every file of the host when host_root is null."),
      max_read_bytes: Count(
        0,
        gibibyte,
        "Largest file, in bytes, that shell::fs::read sends. 0 is no limit.",
      ),
      max_write_bytes: Count(
        0,
        gibibyte,
        "Largest file, in bytes, that shell::fs::write makes. 0 is no limit.",
      ),
      refuse_undefined_groups: Type.Union([Type.Boolean(), Type.Null()], {
        default: null,
        description:
          "Refuse a replacement of shell::fs::sed that names a group which its pattern does not have, such as `$1x` for `${1}x`, before any file is changed. Otherwise the group is empty, as in 0.3.5, and what it was meant to keep is deleted. null is the default of the profile: true in agent, false in contract.",
      }),
      denylist_paths: Texts(
        ["/etc/passwd", "/etc/shadow"],
        "Absolute paths that shell::fs::* never reaches, with everything below them.",
      ),
      deny_globs: Type.Union([Type.Array(Type.String()), Type.Null()], {
        default: null,
        description:
          "Paths that shell::fs::* never reaches, beside denylist_paths, and that os_sandbox hides from commands. Globs relative to host_root. null is the list of the profile: in agent, the default of non_accessible_globs of the coder worker (`**/.env` and others); in contract, none.",
      }),
      write_deny_globs: Type.Union([Type.Array(Type.String()), Type.Null()], {
        default: null,
        description:
          "Paths that shell::fs::* may read, and never create, write, move or delete. Globs relative to host_root. null is the list of the profile: in agent, files that make other programs run commands; in contract, none. os_sandbox makes existing ones read-only for commands, if the system allows mounts.",
      }),
      write_allow_globs: Texts(
        [],
        "Paths that shell::fs::* may change although write_deny_globs, or its default, covers them. Globs relative to host_root; each covers what is below as well.",
      ),
      fold_deny: Type.Union([Type.Literal("auto"), Type.Literal("always")], {
        default: "auto",
        description:
          "Where denylist_paths also covers other spellings of a name: auto is wherever the file system may take them for the same name, always is everywhere.",
      }),
    },
    "Files of the host.",
  ),
  sandbox: Group(
    { enabled: Flag(true, "Forward calls whose target is a sandbox to the sandbox worker.") },
    "Calls that another worker carries out.",
  ),
  private_jobs: Flag(
    false,
    "Let a caller on the bus see and end only the background jobs that it started itself. All clients of MCP count as one caller. A client that connects anew is another caller, and so is each `iii trigger`: jobs whose caller has left the bus are listed for everybody, and everybody can end them.",
  ),
  max_concurrent_execs: Type.Integer({
    minimum: 1,
    maximum: 1024,
    default: 64,
    description: "Commands in the foreground that may run at once; more wait in line.",
  }),
  max_finished_jobs: Count(1000, 100_000, "Maximum records of ended jobs."),
  max_finished_job_bytes: Count(
    64 * mebibyte,
    4 * gibibyte,
    "Bytes of the commands and outputs of ended jobs that are kept at most; the one that ended last is kept anyway.",
  ),
  max_job_output_bytes: Type.Integer({
    minimum: mebibyte,
    maximum: 16 * gibibyte,
    default: 64 * mebibyte,
    description:
      "Maximum bytes kept of a command's output for `shell::status` to page and search, the newest ones: 256 KiB in memory, the rest in a file of the temporary folder that no other process can open. Those of ended jobs count towards max_finished_job_bytes.",
  }),
  max_job_secs: Count(
    0,
    24 * 24 * 3600,
    "Seconds that a background job may run; then it is ended, and counts as killed. 0 is no limit. Jobs in a sandbox have a limit there.",
  ),
  program_folders: Texts(
    [],
    "Absolute folders to look up the names of allowlist in, before those of the operating system.",
  ),
  index: Type.Union([Type.Literal("off"), Type.Literal("verified"), Type.Literal("watched")], {
    default: "off",
    description:
      "Whether shell::fs::grep keeps an index of contents in memory. With off it reads each file; with verified it does not read those that cannot match and are unchanged by size, inode and times. Answers are the same. watched asks the kernel for what has changed below fs.host_root instead of each file, and sees late, or when the mapping ends, a store through a mapping made after the file was read (coder §22).",
  }),
  index_max_bytes: Type.Integer({
    minimum: 1024 * 1024,
    maximum: 16 * 1024 * 1024 * 1024,
    default: 128 * 1024 * 1024,
    description: "Maximum bytes of memory for the index. Files that do not fit are read by each search.",
  }),
  audit: AuditKey(
    "A command is named by its program, without its arguments, and what it changes is not in the trail. It needs fs.host_root: nothing lies outside of the whole host.",
  ),
  quotas: QuotasKey(shellCodes["over-quota"]),
  journal: JournalKey(
    "null is no journal. It is of what shell::fs::* changes, and of what commands change in the files that snapshot names; a worker coder that serves the same folder shares it.",
  ),
  snapshot: Texts(
    [],
    "Globs of files that are held before each command starts, so that coder::undo takes back what it changes in them: `src/`, `*.md`, `!src/generated/`, in the dialect of coder::search. At most 10,000 files and 64 MiB, by shared blocks where the file system has them; it needs a journal. Folders such as .git and node_modules are entered only if a glob names them.",
  ),
  profile: Type.Union([Type.Literal("auto"), Type.Literal("contract"), Type.Literal("agent")], {
    default: "auto",
    description:
      "Defaults of what came after shell 0.3.5: contract keeps those of 0.3.5, agent has those that suit models, auto is agent over MCP and contract elsewhere. The table is on the reference page of profiles.",
  }),
  unknown_fields: UnknownFieldsKey(),
  ...osSandboxKeys,
  max_answer_bytes: Type.Integer({
    minimum: 64 * 1024,
    maximum: maxAnswerBytes,
    default: maxAnswerBytes,
    description:
      "Maximum bytes of JSON in an answer; larger answers are refused with S218. The default is what one message on the bus carries. Python SDKs before 0.24.6 take less than 1 MiB, and lose all pending calls on a larger message: use 1000000 for them.",
  }),
});

export type ShellConfig = Static<typeof shellConfigSchema>;

/**
 * Returns the configuration of a worker without a configuration file. It lacks a decision about
 * `fs.host_root`.
 */
export function defaultShellConfig(): ShellConfig {
  return validate(shellConfigSchema, {}, { unknownKeys: "refuse" });
}

type ConfigOptions = Pick<OpenOptions, "config" | "basePath" | "environment" | "mode" | "log">;

/**
 * Loads the configuration; `basePath` replaces its `fs.host_root`. Over MCP the default is the folder that
 * commands run in. Throws a `ConfigError`.
 */
export function loadShellConfig(options: ConfigOptions): ShellConfig {
  const { source, keys: given } = options.config;
  const { environment } = options;
  const keys = isBareEntry(options) ? bareEntryKeys(options) : given;
  const config = checkKeys(keys, { schema: shellConfigSchema, source, environment });
  const root = options.basePath ?? defaultRoot(config, options);
  if (root === undefined) return crossCheck(config, source);
  // A folder that the command line names is meant for commands too.
  const working_dir = config.working_dir ?? options.basePath ?? null;
  return crossCheck({ ...config, working_dir, fs: { ...config.fs, host_root: root } }, source);
}

/** Returns whether iii has started this worker without a configuration. */
const isBareEntry = ({ config: { source, keys }, basePath, environment, mode }: ConfigOptions): boolean =>
  mode === "serve" &&
  basePath === undefined &&
  source === "defaults" &&
  Object.keys(keys).length === 0 &&
  readLaunchVariables(environment).workerName !== undefined;

/** The files that configure iii and its workers, and the usual secrets. */
const deniedInProject = [
  "config.yaml",
  "config/**",
  "iii-config/**",
  "iii.lock",
  "worker-compose.yaml",
  ...secretGlobs,
];

/**
 * Returns the keys of a worker that `iii worker add shell` has added without a configuration: it serves the
 * folder of the project, without the files that configure it, and confines commands if the system can.
 */
function bareEntryKeys({ config, basePath, mode, log }: ConfigOptions): Keys {
  requireNamedBase({ config, basePath, mode, log });
  log.warn("no configuration", {
    base_path: process.cwd(),
    reason:
      "the entry of this worker has no config: block, so it serves the current folder, and commands have no network; docs/install.md has a block to paste",
  });
  const folder = ".";
  return {
    working_dir: folder,
    os_sandbox: "best",
    network: "none",
    fs: { host_root: folder, deny_globs: deniedInProject, write_deny_globs: [...autorunGlobs] },
  };
}

/**
 * The folder to serve over MCP if none is named: `working_dir`, or the current one, if that is not the whole
 * host.
 */
function defaultRoot({ fs, working_dir }: ShellConfig, { mode, log }: ConfigOptions): string | undefined {
  if (mode !== "mcp" || fs.host_root !== null || fs.allow_unjailed) return undefined;
  if (working_dir !== null) return working_dir;
  requireNamedBase({ config: { source: "defaults", keys: {} }, basePath: undefined, mode, log });
  return ".";
}

/** Checks rules between keys (shell §3.1). Returns the configuration. */
export function crossCheck(config: ShellConfig, where: string): ShellConfig {
  const { fs } = config;
  const refuse = (reason: string) => new ConfigError(`${where}: ${reason}`);
  if (fs.host_root === null && !fs.allow_unjailed) {
    throw refuse(
      "fs.host_root is null and fs.allow_unjailed is false; set fs.host_root (or --base-path) to the folder to serve, or fs.allow_unjailed to true to serve the whole host",
    );
  }
  const relative = fs.denylist_paths.find((path) => !path.startsWith("/"));
  if (relative !== undefined)
    throw refuse(`fs.denylist_paths holds ${JSON.stringify(relative)}; write an absolute path`);
  return config;
}
