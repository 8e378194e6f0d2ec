import { runsCode } from "./code-variables.ts";

/** The environment variables a child gets. */

export interface EnvironmentRules {
  /** Give a child the worker's whole environment. */
  readonly inherit: boolean;
  /** Otherwise: the names it gets, as far as the worker has them. */
  readonly allowed: readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

/**
 * The part of `own`, the worker's environment, that its children get (shell §6.5). Never
 * passed on, even if it is allowed by name: what makes a program run foreign code (`code-variables.ts`), and what the
 * worker itself is configured by, which may hold a secret.
 */
export function childEnvironment(rules: EnvironmentRules, own: NodeJS.ProcessEnv): Environment {
  const names = rules.inherit ? Object.keys(own) : rules.allowed;
  const entries: [string, string][] = [];
  for (const name of names) {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && !runsCode(name) && !isOurs(name)) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

/** The token of this server, and what the SDK of the bus reads, the address of the engine among it. */
const isOurs = (name: string) => name === "CODER_TOKEN" || name.startsWith("III_");
