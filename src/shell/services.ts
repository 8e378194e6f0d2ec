import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "../base/log/log.ts";
import type { Steps } from "../base/scheduling/time-slice.ts";
import type { OpenOptions, RequestRules, Runtime, Services } from "../calls/contract/definition.ts";
import { openQuotas } from "../calls/quotas/quotas-config.ts";
import { readRuntimeOptions } from "../config/environment.ts";
import { ConfigError } from "../config/file.ts";
import { autorunGlobs } from "../filesystem/jail/autorun.ts";
import { type GuardedFinder, openGuardedFinder } from "../filesystem/jail/guarded-paths.ts";
import { pathDependencies } from "../filesystem/jail/path-dependencies.ts";
import { createRegexEngine, type RegexEngine } from "../text/regex/rust-regex.ts";
import { openCommandEnvironment, settableVariables } from "./command-environment.ts";
import { describeCommands, describeReadOnly, type RootNames, writtenFolders } from "./command-rules.ts";
import type { ShellConfig } from "./config.ts";
import { type CommandConfinement, openConfinement } from "./confinement.ts";
import type { ShellServices } from "./define.ts";
import { renderShellError } from "./error-codes.ts";
import { type FsServices, openFsOver, openFsServices } from "./fs/services.ts";
import { indexHiddenOnce } from "./hidden-names.ts";
import { jobFinishedOver } from "./job-finished.ts";
import { LinePatterns } from "./line-patterns.ts";
import type { ObservedServices } from "./observed.ts";
import { killOnExit } from "./on-exit.ts";
import { createPolicy, denylistOf } from "./policy.ts";
import { type ShellProfile, shellProfileOf } from "./profiles.ts";
import { makeUndumpable } from "./programs/dumpable.ts";
import { Jobs } from "./programs/jobs.ts";
import { createPrograms } from "./programs/programs.ts";
import type { SpawnOptions } from "./programs/start.ts";
import type { Escaped } from "./programs/subreaper.ts";
import { holdFolder, type WorkingFolder } from "./programs/working-folder.ts";
import { shellNarrowerOf } from "./scoped-services.ts";
import { temporaryParent } from "./start-refusals.ts";
import { warnAboutConfig } from "./warnings.ts";

/** The tree of another worker in this process, in which commands run. */
export interface ServedTree extends Omit<FsServices, "transfers" | "sweeper" | "close"> {
  /** Host paths of the folders that commands may write. */
  readonly writable: readonly string[];
  /** Host paths of the other served folders. */
  readonly readOnly: readonly string[];
  /** The globs of files that are hidden from them. */
  readonly denyGlobs: readonly string[];
  /** The globs of files that they cannot change. */
  readonly writeDenyGlobs: readonly string[];
}

interface ShellOpenOptions
  extends Partial<Pick<OpenOptions, "config" | "configFiles" | "mode" | "readOnly" | "onlyReads">> {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Absent: the tree of `fs.host_root`. */
  readonly tree?: ServedTree | undefined;
}

/** The milliseconds that a call may take beyond its command, to wait for a permit, to start and to end. */
const besidesTheCommand = 30_000;

/**
 * Opens the services of `shell::*`, after finishing the transactions that killed workers left. Throws a
 * `ConfigError`, or the reason why one cannot be finished.
 */
export async function openShell(
  config: ShellConfig,
  { environment, log, tree, ...opening }: ShellOpenOptions,
): Promise<ShellServices & Runtime> {
  const root = canonicalRoot(config.fs.host_root);
  const runtimeOptions = readRuntimeOptions(environment);
  const regex = createRegexEngine(runtimeOptions);
  const writable = tree?.writable ?? (root === undefined ? [] : [root]);
  const profile = shellProfileOf(config, opening.mode === "mcp");
  if (tree === undefined && profile.relative_paths) requireWorkingFolder(config, opening);
  const fs = tree
    ? openFsOver(tree)
    : await openFsServices(config, { regex, opening, profile, runtimeOptions, environment, log });
  const programs = createPrograms(config.max_concurrent_execs, (escaped) => warnOf(escaped, log));
  const removeExitHandler = killOnExit(programs);
  const jobs = createJobs(config, { hasShortIds: profile.short_job_ids, environment });
  const workingFolder = holdFolder(folderOf(config, profile.relative_paths ? root : undefined));
  const confinement = await confine(config, { ...opening, profile, environment, log, tree, root, fs });
  const own = await openOwn(config, { profile, environment, programs, confinement });
  makeUndumpable();
  const isConfined = confinement.rules !== undefined;
  const isOff = (config.os_sandbox ?? profile.os_sandbox) === "off";
  warnAboutConfig(config, { root, isServed: opening.mode !== "call", isConfined, isOff, log });
  return {
    triggers: [jobFinishedOver(jobs, config.private_jobs)],
    serves: { base_path: root ?? "/", config: opening.config?.source ?? "defaults" },
    config,
    profile,
    log,
    regex,
    linePatterns: new LinePatterns(regex),
    fs,
    ...rulesFor(config, { profile, confinement, tree, jail: fs.jail, writable, regex }),
    ...observedIn(config, { profile, confinement, tree, fs }),
    programs,
    jobs,
    ...startIn(config, { profile, root, jail: fs.jail, isTree: tree !== undefined }),
    beginCommand: () => confinement.begin(),
    spawnOptions: spawnOptionsOf(config, own.variables, workingFolder, confinement),
    quotas: openQuotas(config.quotas),
    ...recordsOf(fs),
    callMilliseconds: config.max_timeout_ms + besidesTheCommand,
    maxAnswerBytes: config.max_answer_bytes,
    renderError: renderShellError,
    usesTransportNames: profile.transport_names,
    requestRules: requestRulesOf(config, profile, { home: environment["HOME"], jail: fs.jail }),
    narrow: shellNarrowerOf(fs),
    dependenciesOf: (path) => pathDependencies(path, fs.jail),
    interrupt() {
      fs.transfers.close();
      return programs.stopAll();
    },
    async close() {
      await programs.stopAll();
      removeExitHandler();
      for (const one of [jobs, workingFolder, own, confinement, fs, regex]) await one.close();
    },
  };
}

/** Opens the environment of commands, or else closes their sandbox, whose folders would stay. */
async function openOwn(
  config: ShellConfig,
  options: Parameters<typeof openCommandEnvironment>[1] & { readonly confinement: CommandConfinement },
) {
  try {
    return await openCommandEnvironment(config, options);
  } catch (error) {
    await options.confinement.close();
    throw error;
  }
}

/** Returns the records of every call, and what the start of a server recovers and sweeps. */
const recordsOf = ({ journal, audit, recovered, sweeper }: FsServices): Partial<Services & Runtime> => ({
  ...(sweeper && { sweep: sweeper.sweep }),
  ...(recovered && { recovered }),
  ...(journal && { prepareWriting: () => journal.catchUp() }),
  ...(audit && { onFinished: (call) => audit.onFinished(call) }),
});

const warnOf = (escaped: Escaped, log: Log): void =>
  log.warn("a program has left its session and goes on", { ...escaped });

const folderOf = ({ working_dir }: ShellConfig, byDefault = "."): string => resolve(working_dir ?? byDefault);

/** In the profile `contract` the worker starts, and refuses each command, like 0.3.5. */
function requireWorkingFolder(
  { working_dir: path }: ShellConfig,
  { config }: Pick<ShellOpenOptions, "config">,
): void {
  if (path === null) return;
  const place = `${config?.source ?? "defaults"}: working_dir ${JSON.stringify(path)}`;
  try {
    if (statSync(path).isDirectory()) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" && !path.startsWith("/");
    const base = isMissing ? `, in ${process.cwd()}, where this process runs` : "";
    throw new ConfigError(
      `${place} cannot be reached (${code}${base}); write the path of a folder that is there`,
      "working_dir",
    );
  }
  throw new ConfigError(`${place} is not a folder; write the path of one`, "working_dir");
}

interface StartOptions {
  readonly profile: ShellProfile;
  readonly root: string | undefined;
  readonly jail: FsServices["jail"];
  readonly isTree: boolean;
}

/** Returns the place where commands start: the served folder, or the first of several. */
function startIn(
  { working_dir }: ShellConfig,
  { profile, root, jail, isTree }: StartOptions,
): Pick<ShellServices, "startFolder"> & Pick<Runtime, "startRoot"> {
  const isElsewhere = working_dir !== null && tryRealpath(working_dir) !== root;
  const isServed = isTree || root !== undefined;
  if (!profile.relative_paths || !isServed || isElsewhere) return { startFolder: undefined };
  const [first] = jail.roots;
  return jail.hasTop ? { startFolder: first!.name, startRoot: first!.name } : { startFolder: "." };
}

function tryRealpath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

interface RuleOptions {
  readonly profile: ShellProfile;
  readonly confinement: CommandConfinement;
  readonly tree: ServedTree | undefined;
  readonly jail: FsServices["jail"];
  readonly writable: readonly string[];
  readonly regex: RegexEngine;
}

/** Returns the names of the roots, if there are several or one has a name. */
const namedRoots = ({ hasTop, roots }: FsServices["jail"]): RootNames | undefined =>
  hasTop
    ? {
        writable: roots.filter(({ isReadOnly }) => !isReadOnly).map(({ name }) => name),
        readOnly: roots.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name),
      }
    : undefined;

/** Returns the policy of commands, and the part of it that models learn. */
function rulesFor(config: ShellConfig, { profile, confinement, tree, jail, writable, regex }: RuleOptions) {
  const confined = confinement.rules;
  const denylist = denylistOf(config, profile, confined);
  const kept = keptGlobsOf(config, tree, profile);
  const denied = tree?.denyGlobs ?? config.fs.deny_globs ?? profile["fs.deny_globs"];
  const hidden = [...denied, ...config.fs.denylist_paths];
  return {
    policy: createPolicy(config, {
      denylist,
      regex,
      writableRoots: writable,
      maySet: settableVariables(config, profile),
      namesPaths: profile.explained_errors,
    }),
    ...(profile.command_remarks && {
      commandRules: describeCommands({
        ...{ config, profile, confined, denylist, hidden, kept },
        roots: namedRoots(jail),
      }),
    }),
  };
}

interface ObservedOptions extends Pick<RuleOptions, "profile" | "confinement" | "tree"> {
  readonly fs: FsServices;
}

/** Returns the globs of files that commands cannot change. */
const keptGlobsOf = (
  { fs }: ShellConfig,
  tree: ServedTree | undefined,
  profile: ShellProfile,
): readonly string[] => tree?.writeDenyGlobs ?? fs.write_deny_globs ?? profile["fs.write_deny_globs"];

/** Returns the means of observing commands. Files are named as callers name them. */
function observedIn(
  config: ShellConfig,
  { profile, confinement, tree, fs: { jail, feed } }: ObservedOptions,
): ObservedServices {
  // The innermost first: a path in a root that lies in another one has one name.
  const roots = jail.roots
    .map(({ name, hostPath }) => ({ prefix: `${hostPath}/`, name: jail.hasTop ? `${name}/` : "" }))
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  const nameOf = (path: string) => {
    const root = roots.find(({ prefix }) => path.startsWith(prefix));
    return root && root.name + path.slice(root.prefix.length);
  };
  const byGlobs = keptGlobsOf(config, tree, profile) === autorunGlobs ? "autorun" : "globs";
  const namesOf = (paths: readonly string[]) => paths.flatMap((path) => nameOf(path) ?? []);
  return {
    feed,
    confined: confinement.rules,
    written: `${writtenFolders(namedRoots(jail))} only${describeReadOnly(namedRoots(jail), ",")}`,
    hiddenNames: indexHiddenOnce(confinement.hidden, (path) => nameOf(path) ?? path),
    keptNames: () => namesOf(confinement.kept()),
    keptBy: (kept) => (namesOf(jail.protectedPaths).includes(kept) ? "configuration" : byGlobs),
    *removalOf(kept) {
      const folder = yield* removableAbove(jail, kept);
      return folder === undefined
        ? undefined
        : { folder, call: tree !== undefined ? "coder::delete-file" : "shell::fs::rm" };
    },
    nestedRoots: jail.roots.flatMap(({ hostPath, isReadOnly }) => (isReadOnly && nameOf(hostPath)) || []),
    nameIn(folder, path) {
      // With a "/", a root is in itself, and not in the one around it.
      const name = folder === undefined ? undefined : nameOf(`${resolve(folder, path)}/`);
      return name === undefined ? path : name.slice(0, -1) || ".";
    },
    linkedTo: (name) => linkedIn(jail, name),
    namesOf,
  };
}

/** Returns the paths that the links in a path lead to, even if they are denied or missing. */
function linkedIn(jail: FsServices["jail"], path: string): readonly string[] {
  const found = new Set<string>();
  try {
    if (jail.plainPath(path) !== undefined) return [];
    jail.admit(path, { mayBeFolder: true, onPath: (one) => found.add(one) })[Symbol.dispose]();
  } catch {
    // The path is malformed, or the last of these is denied or missing.
  }
  return [...found];
}

/**
 * Returns the innermost folder above a path that calls may remove with the path in it. It takes one in each
 * step, since a rule may read the disk for each folder above.
 */
export function* removableAbove(
  jail: Pick<FsServices["jail"], "deniesChange" | "mayGoWhole">,
  path: string,
): Steps<string | undefined> {
  const names = path.split("/");
  for (let levels = names.length - 1; levels > 0; levels--) {
    const above = names.slice(0, levels);
    const folder = above.join("/");
    const place = { path: folder, names: above, folder: { folding: "exact" } } as const;
    if (jail.mayGoWhole(place) && !jail.deniesChange(folder)) return folder;
    yield;
  }
  return undefined;
}

/**
 * Opens the search for files that the sandbox hides or protects from commands, if they run in one and a
 * folder is served. Without globs, these are only the files of the configuration, and no folder is searched.
 */
async function openGuarded(
  config: ShellConfig,
  { profile, tree, root, fs: { jail } }: Confining,
): Promise<GuardedFinder | undefined> {
  const isConfined = (config.os_sandbox ?? profile.os_sandbox) !== "off";
  if (!isConfined || (tree === undefined && root === undefined)) return undefined;
  const { deny_globs, write_deny_globs } = config.fs;
  const globs = [
    ...(deny_globs ?? profile["fs.deny_globs"]),
    ...(write_deny_globs ?? profile["fs.write_deny_globs"]),
  ];
  const searches = tree !== undefined || globs.length > 0;
  return await openGuardedFinder(searches ? jail : { ...jail, roots: [] });
}

interface Confining extends Pick<ShellOpenOptions, "environment" | "log" | "tree"> {
  readonly mode?: OpenOptions["mode"] | undefined;
  readonly profile: ShellProfile;
  readonly root: string | undefined;
  readonly fs: FsServices;
}

async function confine(config: ShellConfig, options: Confining): Promise<CommandConfinement> {
  const { environment, log, tree, mode, profile } = options;
  return openConfinement(config, {
    environment,
    log,
    isAgent: mode === "mcp",
    guarded: await openGuarded(config, options),
    denyGlobs: tree?.denyGlobs ?? config.fs.deny_globs ?? profile["fs.deny_globs"],
    writableRoots: tree?.writable,
    readOnlyRoots: tree?.readOnly,
    roots: options.fs.jail.hasTop ? options.fs.jail.roots : undefined,
  });
}

const requestRulesOf = (
  config: ShellConfig,
  profile: ShellProfile,
  { home, jail }: { readonly home: string | undefined; readonly jail: FsServices["jail"] },
): RequestRules => ({
  unknownFields: config.unknown_fields === "auto" ? profile.unknown_fields : config.unknown_fields,
  isForgiving: profile.forgiving_arguments,
  places: {
    home,
    roots: jail.roots.map(({ name, hostPath }) => ({ prefix: jail.hasTop ? `${name}/` : "", hostPath })),
    isAbsolute: !profile.relative_paths || config.fs.host_root === null,
  },
});

interface JobOptions {
  readonly hasShortIds: boolean;
  readonly environment: NodeJS.ProcessEnv;
}

const createJobs = (config: ShellConfig, { hasShortIds, environment }: JobOptions): Jobs =>
  new Jobs({
    hasShortIds,
    output: { maxBytes: config.max_job_output_bytes, temporaryFolder: temporaryParent(environment) },
    maxRunning: config.max_concurrent_jobs,
    maxRunMs: config.max_job_secs * 1000,
    isPrivate: config.private_jobs,
    maxAgeMs: config.job_retention_secs * 1000,
    maxCount: config.max_finished_jobs,
    maxBytes: config.max_finished_job_bytes,
  });

function spawnOptionsOf(
  config: ShellConfig,
  environment: SpawnOptions["environment"],
  held: WorkingFolder,
  { watch }: CommandConfinement,
): SpawnOptions {
  return {
    environment,
    watch,
    get folder() {
      return held.path();
    },
    maxOutputBytes: config.max_output_bytes,
  };
}

/**
 * Returns the folder that `shell::fs::*` is confined to, or `undefined` without one, or for the whole host.
 */
function canonicalRoot(path: string | null): string | undefined {
  if (path === null) return undefined;
  try {
    const root = realpathSync(path);
    return root === "/" ? undefined : root;
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new ConfigError(`fs.host_root ${JSON.stringify(path)} cannot be reached (${reason})`);
  }
}
