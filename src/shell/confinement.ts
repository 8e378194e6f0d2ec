/** Confines commands by the rules of the kernel, as configured. */
import { type BigIntStats, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { Log } from "../base/log/log.ts";
import { createTimeSlice, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";
import { ConfigError } from "../config/file.ts";
import type { GuardedFinder } from "../filesystem/jail/guarded-paths.ts";
import { stateDirectories } from "../filesystem/state/state-folder.ts";
import type { GitSetting } from "./command-environment.ts";
import type { ConfinedRules } from "./command-rules.ts";
import type { ShellConfig } from "./config.ts";
import {
  compileRootGlobs,
  filterSettings,
  globPatterns,
  hiddenFileSettings,
  includeBelow,
  type PatternFiles,
  type PatternRoot,
  pathPatterns,
  patternsInRoot,
  renderAttributes,
  renderExcludes,
  renderFileSettings,
} from "./hidden-files.ts";
import { createDiskWatch } from "./os-sandbox/disk-watch.ts";
import { resourceLimits } from "./os-sandbox/limits.ts";
import { writeBeside } from "./os-sandbox/masks.ts";
import { openOsSandbox } from "./os-sandbox/os-sandbox.ts";
import { makePrivateFolder } from "./os-sandbox/private-folder.ts";
import type { MaskedEntries, Network } from "./os-sandbox/ruleset.ts";
import type { OsSandbox, SandboxPolicy } from "./os-sandbox/types.ts";
import { shellProfileOf } from "./profiles.ts";
import type { SpawnOptions } from "./programs/start.ts";
import { makeTemporary, refuseShortage, temporaryParent } from "./start-refusals.ts";

export interface ConfinementOptions {
  readonly isAgent: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Finds the files that globs deny or protect. */
  readonly guarded?: GuardedFinder | undefined;
  /** Several roots, each with files for git of its own; absent for one folder. */
  readonly roots?: readonly PatternRoot[] | undefined;
  /** The globs whose files commands may not read. */
  readonly denyGlobs?: readonly string[] | undefined;
  /** The served folders that commands may write; by default `fs.host_root`. */
  readonly writableRoots?: readonly string[] | undefined;
  /** The served folders that commands may only read, also in a folder that they may write. */
  readonly readOnlyRoots?: readonly string[] | undefined;
  /** Opens the sandbox of this system. */
  readonly open?: typeof openOsSandbox;
}

/** A command that is about to run. */
export interface BegunCommand extends Pick<SpawnOptions, "launcher"> {
  /** Finds the entries that the sandbox could not guard, because they came while this command ran. */
  findUnguarded(): Promise<UnguardedPaths>;
}

/** Host paths of entries that came while a command ran. */
export interface UnguardedPaths {
  /** Protected files and folders, which only it may have created. */
  readonly made: readonly string[];
  /** Denied ones that it could read. */
  readonly readable: readonly ReadablePath[];
}

export interface ReadablePath {
  readonly path: string;
  /** "replaced": it has the name of an entry that was hidden. "changed": a folder, perhaps with new files. */
  readonly event: "created" | "replaced" | "changed";
}

export const nothingUnguarded: UnguardedPaths = { made: [], readable: [] };

/** The part that becomes `SpawnOptions`. */
export interface CommandConfinement extends Pick<SpawnOptions, "watch"> {
  /** Confines one command. Call it for each. */
  begin(): BegunCommand;
  /** Additional variables of confined commands. */
  readonly variables: Readonly<Record<string, string>>;
  /** The settings that make git ignore hidden files. */
  readonly gitSettings: readonly GitSetting[];
  /** The rules in force, if any. */
  readonly rules: ConfinedRules | undefined;
  /** The host paths that are hidden from commands. */
  hidden(): readonly string[];
  /** Returns the host paths that they cannot change. */
  kept(): readonly string[];
  close(): Promise<void>;
}

/** Variables of commands without a network. By default, npm retries silently for more than a minute. */
const offline = { npm_config_fetch_retries: "0" };

const none: CommandConfinement = {
  begin: () => ({ launcher: undefined, findUnguarded: async () => nothingUnguarded }),
  watch: undefined,
  variables: {},
  gitSettings: [],
  rules: undefined,
  hidden: () => [],
  kept: () => [],
  async close() {},
};

/**
 * Opens the sandbox and logs the rules in force. Throws a `ConfigError` if the configuration requires rules
 * that this machine does not have, and if too little is left to find out which it has.
 */
export async function openConfinement(
  config: ShellConfig,
  options: ConfinementOptions,
): Promise<CommandConfinement> {
  const { log, environment, guarded, open = openOsSandbox } = options;
  const profile = shellProfileOf(config, options.isAgent);
  const mode = config.os_sandbox ?? profile.os_sandbox;
  if (mode === "off") return none;
  const chosen = [
    ...(options.writableRoots ?? rootOf(config)),
    ...config.writable_folders.map(canonicalFolder),
  ];
  const { temporary, masks, remove } = await makeFolders(environment);
  const writable = [...chosen, temporary.path];
  const sandbox = await openOrRefuse(open, remove, {
    writable,
    readOnly: options.readOnlyRoots,
    denied: [...config.fs.denylist_paths, ...stateDirectories(config.journal?.dir, environment)],
    findDenied: guarded && (() => guarded.found.denied),
    findKept: guarded && (() => guarded.found.kept),
    network: networkOf(config.network ?? profile.network),
    limits: (isApart) => resourceLimits(config.limits, isApart),
    processes: config.limits.processes,
    maskFolder: masks.path,
  });
  const close = () => {
    sandbox?.close();
    return remove();
  };
  const lacks = sandbox?.lacks ?? ["everything"];
  if (mode === "required" && lacks.length > 0) {
    await close();
    throw new ConfigError(
      `os_sandbox is required, and this system lacks what confines ${lacks.join(", ")}; take a newer kernel, or set os_sandbox to best, which does what it can`,
    );
  }
  const mayHide = (options.denyGlobs ?? []).length > 0 || config.fs.denylist_paths.length > 0;
  logSandbox(sandbox, log);
  if (sandbox === undefined) {
    await close();
    return none;
  }
  const gitSettings =
    sandbox.hasMounts && mayHide ? await settingsOr(close, config, masks.path, options) : [];
  return {
    begin: () => beginCommand(sandbox, guarded),
    watch: createDiskWatch(writable, config.limits),
    variables: { TMPDIR: temporary.path, ...(sandbox.network !== "full" && offline) },
    gitSettings,
    rules: {
      network: sandbox.network,
      holdsFiles: sandbox.holds.includes("files"),
      keepsFiles: sandbox.keepsFiles,
    },
    hidden: () => sandbox.hidden(),
    kept: () => sandbox.kept(),
    close,
  };
}

/** Makes the folders for the temporary files of commands, and for the masks of hidden files. */
async function makeFolders(environment: NodeJS.ProcessEnv) {
  const make = () => makeTemporary(environment, () => makePrivateFolder(temporaryParent(environment)));
  const temporary = make();
  try {
    const masks = make();
    const remove = async () => {
      await temporary.remove();
      await masks.remove();
    };
    return { temporary, masks, remove };
  } catch (error) {
    await temporary.remove();
    throw error;
  }
}

/**
 * Opens the sandbox. A shortage ends the start, since a worker that took it for a kernel without such rules
 * would run commands unconfined for the rest of its life.
 */
async function openOrRefuse(
  open: typeof openOsSandbox,
  remove: () => Promise<void>,
  policy: SandboxPolicy,
): Promise<OsSandbox | undefined> {
  try {
    return open(policy);
  } catch (error) {
    await remove();
    throw refuseShortage("os_sandbox: cannot find out which rules this system supports", error);
  }
}

function logSandbox(sandbox: OsSandbox | undefined, log: Log): void {
  const holds = sandbox?.holds.join(", ") ?? "nothing";
  const lacks = sandbox?.lacks.join(", ") ?? "everything";
  const has = {
    network: sandbox?.network ?? "full",
    mounts: sandbox?.hasMounts ?? false,
    cgroups: sandbox?.hasGroups ?? false,
    hides_processes: sandbox?.hidesProcesses ?? false,
  };
  if (lacks === "") log.info("os sandbox", { holds, ...has });
  else log.warn("os sandbox", { holds, lacks, ...has });
}

function beginCommand(sandbox: OsSandbox, guarded: GuardedFinder | undefined): BegunCommand {
  let before: ReadonlySet<string> | undefined;
  let masked: MaskedEntries | undefined;
  return {
    async launcher(program) {
      await guarded?.refresh();
      before = new Set(guarded?.found.kept);
      const launch = await sandbox.launch(program);
      masked = launch.masked;
      return launch;
    },
    async findUnguarded() {
      if (guarded === undefined || before === undefined) return nothingUnguarded;
      await guarded.refresh();
      const { kept, denied } = guarded.found;
      const made = kept.filter((path) => !before!.has(path));
      // Without mounts, Landlock keeps a command from all files that came after its start.
      const readable = masked && (await runInSlices(findReadable(denied, masked), createTimeSlice()));
      return { made, readable: readable ?? [] };
    },
  };
}

/** Like `settingsFor`; if they cannot be written, throws a `ConfigError` after a call of `close`. */
async function settingsOr(close: () => Promise<void>, ...settings: Parameters<typeof settingsFor>) {
  try {
    return await runInSlices(settingsFor(...settings), createTimeSlice());
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds the denied entries that are not masked, one path in each step. */
function* findReadable(denied: readonly string[], masked: MaskedEntries): Steps<ReadablePath[]> {
  const readable: ReadablePath[] = [];
  const maskedPaths = new Set(masked.paths);
  for (const path of denied) {
    const stats = statAt(path);
    if (stats !== undefined && !isMasked(path, stats, masked)) {
      const event = maskedPaths.has(path) ? "replaced" : stats.isDirectory() ? "changed" : "created";
      readable.push({ path, event });
    }
    yield;
  }
  return readable;
}

/** Returns whether an entry or a folder above it is masked. */
function isMasked(path: string, stats: BigIntStats | undefined, masked: MaskedEntries): boolean {
  if (stats !== undefined && masked.has(stats)) return true;
  const folder = dirname(path);
  return folder !== path && isMasked(folder, statAt(folder), masked);
}

function statAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Makes git skip hidden files in the served folder, and never record them. */
function* settingsFor(
  config: ShellConfig,
  folder: string,
  { environment, guarded, denyGlobs = [], roots }: ConfinementOptions,
): Steps<GitSetting[]> {
  const write = (name: string, text: string) =>
    makeTemporary(environment, () => writeBeside(folder, { name, text }));
  function* writePatterns(patterns: readonly string[], suffix = ""): Steps<PatternFiles> {
    return {
      attributes: write(`attributes${suffix}`, yield* renderAttributes(patterns)),
      excludes: write(`excludes${suffix}`, yield* renderExcludes(patterns)),
    };
  }
  if (roots !== undefined) {
    const denied = guarded?.found.denied ?? [];
    const outermostFirst = roots.toSorted((one, other) => one.hostPath.length - other.hostPath.length);
    const globs = yield* compileRootGlobs(denyGlobs);
    const included: GitSetting[] = [];
    for (const [index, root] of outermostFirst.entries()) {
      const patterns = yield* patternsInRoot(root, { globs, denied, roots });
      const files = yield* writePatterns(patterns, `-${index}`);
      included.push(includeBelow(root.hostPath, write(`git-${index}`, renderFileSettings(files))));
    }
    return [...filterSettings, ...included];
  }
  const [root] = rootOf(config);
  const paths = [...config.fs.denylist_paths, ...(guarded?.found.denied ?? [])];
  const named = root === undefined ? [] : yield* pathPatterns(paths, root);
  const patterns = [...globPatterns(denyGlobs), ...named];
  return hiddenFileSettings(yield* writePatterns(patterns));
}

const networkOf = (chosen: Network | boolean): Network =>
  typeof chosen === "string" ? chosen : chosen ? "full" : "none";

/** Returns the served folder, or without one the folder that commands run in, if it exists. */
function rootOf({ fs, working_dir }: ShellConfig): string[] {
  try {
    return [realpathSync(fs.host_root ?? working_dir ?? ".")];
  } catch {
    return [];
  }
}

/** Returns the canonical path of one of `writable_folders`. Throws a `ConfigError` if it is not there. */
export function canonicalFolder(path: string): string {
  try {
    if (isAbsolute(path)) return realpathSync(path);
  } catch {
    // A missing folder gets the same error as a relative path.
  }
  throw new ConfigError(`holds ${JSON.stringify(path)}; write the absolute path of a folder that is there`);
}
