import { runsCode } from "./code-variables.ts";
import { isPlainVariable } from "./plain-variables.ts";

export interface EnvironmentRules {
  /** Gives a child the worker's whole environment. */
  readonly inherit: boolean;
  /** The names that it otherwise gets, if the worker has them. */
  readonly allowed: readonly string[];
  /** Whether it also gets the listed ones (`plain-variables.ts`). */
  readonly addsPlain?: boolean;
}

export type Environment = Readonly<Record<string, string>>;

/**
 * The part of `own`, the worker's environment, that its children get (shell §6.5). Two kinds never pass, even
 * if allowed by name: variables that make a program run foreign code (`code-variables.ts`), and those that
 * configure the worker itself, which may hold a secret.
 */
export function childEnvironment(rules: EnvironmentRules, own: NodeJS.ProcessEnv): Environment {
  const plain = rules.addsPlain ? Object.keys(own).filter(isPlainVariable) : [];
  const names = rules.inherit ? Object.keys(own) : [...rules.allowed, ...plain];
  const entries: [string, string][] = [];
  for (const name of names) {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && !runsCode(name) && !isOurs(name)) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

/**
 * Returns whether a caller may set a variable of this name: one in the portable form (environ(7)) that
 * neither makes programs run code nor determines where programs, their configuration and their temporary
 * files are.
 */
export const isSettable = (name: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !runsCode(name) && !isOurs(name) && !decidesPlaces(name);

const decidesPlaces = (name: string): boolean =>
  /^(PATH|HOME|SHELL|TMPDIR|CDPATH|XDG_.*|GIT_.*|npm_config_.*|pip_.*)$/i.test(name);

/**
 * Returns whether a variable is this server's token, or one of the bus's SDK, such as the address of the
 * engine.
 */
const isOurs = (name: string) => name === "CODER_TOKEN" || name.startsWith("III_");
