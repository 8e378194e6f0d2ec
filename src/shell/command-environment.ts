/**
 * The environment of commands in the profile `agent`: listed variables, a home of their own, and the settings
 * of the user that git needs.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultAllowedEnv, type ShellConfig } from "./config.ts";
import { makePrivateFolder, type PrivateFolder } from "./os-sandbox/private-folder.ts";
import type { ShellProfile } from "./profiles.ts";
import {
  childEnvironment,
  type Environment,
  type EnvironmentRules,
  isSettable,
} from "./programs/environment.ts";
import { isPlainVariable } from "./programs/plain-variables.ts";
import { findProgram, programFolders } from "./programs/program.ts";
import type { Programs } from "./programs/programs.ts";
import { makeTemporary, temporaryParent } from "./start-refusals.ts";

interface CommandEnvironmentOptions {
  readonly profile: ShellProfile;
  /** The environment of the worker. */
  readonly environment: NodeJS.ProcessEnv;
  readonly programs: Programs;
  readonly confinement: {
    readonly variables: Environment;
    readonly gitSettings: readonly GitSetting[];
  };
}

/** Makes the environment of all commands, and a home that `close` removes. Throws a `ConfigError`. */
export async function openCommandEnvironment(
  config: ShellConfig,
  { profile, environment, programs, confinement }: CommandEnvironmentOptions,
): Promise<{ readonly variables: Environment; close(): Promise<void> }> {
  const parent = confinement.variables["TMPDIR"] ?? temporaryParent(environment);
  const home = makeTemporary(environment, () => openHome(config, profile, parent));
  // Written to the user's file, because settings in variables would take precedence over those of a
  // repository.
  const identity = home === undefined ? [] : await readGitIdentity(programs, environment);
  try {
    if (identity.length > 0) makeTemporary(environment, () => home?.write(".gitconfig", gitFile(identity)));
  } catch (error) {
    await home?.remove();
    throw error;
  }
  return {
    variables: {
      ...childEnvironment(environmentRules(config, profile), environment),
      ...confinement.variables,
      ...(home && { HOME: home.path, ...toolchains(environment) }),
      ...(profile.private_home && noEditor),
      ...gitVariables(confinement.gitSettings),
    },
    close: async () => home?.remove(),
  };
}

/**
 * Returns the worker's variables that commands get. The profile's list replaces the default of `allowed_env`.
 */
function environmentRules(config: ShellConfig, profile: ShellProfile): EnvironmentRules {
  const { inherit_env: inherit, allowed_env: allowed } = config;
  if (!profile.listed_variables) return { inherit, allowed };
  return { inherit, allowed: isChosen(config) ? allowed : ["PATH"], addsPlain: true };
}

/** Returns the names of variables that callers may set in addition to the listed ones. */
export const namedVariables = (config: ShellConfig): readonly string[] =>
  isChosen(config) ? config.allowed_env : [];

/** Returns a check for variables that callers may set: any, or only those that a list or the user names. */
export function settableVariables(
  config: ShellConfig,
  profile: Pick<ShellProfile, "listed_variables">,
): (name: string) => boolean {
  if (!profile.listed_variables) return isSettable;
  const named = namedVariables(config);
  return (name) => isPlainVariable(name) || (named.includes(name) && isSettable(name));
}

/** Returns whether `allowed_env` differs from its default. */
const isChosen = ({ allowed_env }: ShellConfig): boolean =>
  allowed_env.length !== defaultAllowedEnv.length ||
  !defaultAllowedEnv.every((name) => allowed_env.includes(name));

/** Makes a folder in `parent` for HOME. Returns `undefined` if commands get the worker's HOME. */
function openHome(config: ShellConfig, profile: ShellProfile, parent: string): PrivateFolder | undefined {
  const keepsHome = config.inherit_env || (isChosen(config) && config.allowed_env.includes("HOME"));
  return profile.private_home && !keepsHome ? makePrivateFolder(parent) : undefined;
}

/** Folders of toolchains below HOME, by the variables that can name them instead. */
const toolchainFolders = { RUSTUP_HOME: ".rustup", PYENV_ROOT: ".pyenv" } as const;

/**
 * Returns the user's toolchains, which commands may run but not change: without them `cargo` and `python3`
 * run nothing.
 */
function toolchains(own: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(toolchainFolders).map(([name, folder]) => {
    const { [name]: chosen, HOME: home } = own;
    return [name, chosen ?? (home === undefined ? "" : join(home, folder))] as const;
  });
  return Object.fromEntries(entries.filter(([, path]) => path !== "" && existsSync(path)));
}

/** A key of git's configuration, and its value. */
export type GitSetting = readonly [key: string, value: string];

/**
 * The editor that git runs itself (git-var(1)), in place of any that a configuration names: a command has no
 * terminal, and an editor would wait for one until the command's time is over. A message stays as it is, and
 * an empty one is refused.
 */
const noEditor = { GIT_EDITOR: ":", GIT_SEQUENCE_EDITOR: ":" } as const;

/** Milliseconds that git may take to read its configuration. */
const gitMs = 5000;

/**
 * Reads the author of commits and the trusted folders of other users from the user's git configuration, which
 * commands with a home of their own cannot see. Returns nothing if git is missing or fails.
 */
async function readGitIdentity(programs: Programs, own: NodeJS.ProcessEnv): Promise<GitSetting[]> {
  const file = findProgram("git", programFolders);
  if (file === undefined) return [];
  const argv = [
    "git",
    "config",
    "--null",
    "--get-regexp",
    String.raw`^(user\.(name|email)|safe\.directory)$`,
  ] as const;
  const names = ["PATH", "HOME", "XDG_CONFIG_HOME"].filter((name) => own[name] !== undefined);
  const environment = Object.fromEntries(names.map((name) => [name, own[name]!]));
  try {
    const options = { environment, folder: "/", maxOutputBytes: 64 * 1024 };
    const { stdout } = await programs.run({ file, argv }, options, { timeoutMs: gitMs });
    return stdout.split("\0").flatMap((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
    });
  } catch {
    return [];
  }
}

/** Returns a file with these settings (git-config(1)), whose keys consist of two words. */
function gitFile(settings: readonly GitSetting[]): string {
  const lines = settings.map(([key, value]) => {
    const [section, name] = key.split(".");
    const quoted = value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
    return `[${section}]\n\t${name} = "${quoted}"\n`;
  });
  return lines.join("");
}

/** Returns the variables that pass settings to git (git-config(1)). */
const gitVariables = (settings: readonly GitSetting[]): Record<string, string> =>
  settings.length === 0
    ? {}
    : Object.fromEntries([
        ["GIT_CONFIG_COUNT", String(settings.length)],
        ...settings.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ]);
