/** The environment variables a child gets. */

export interface EnvironmentRules {
  /** Give a child the worker's whole environment. */
  readonly inherit: boolean;
  /** Otherwise: the names it gets, as far as the worker has them. */
  readonly allowed: readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

/**
 * The part of `own`, the worker's environment, that its children get (specification of shell, section 6.5). What
 * makes a program load foreign code is never passed on, even if it is allowed by name: the compiled worker itself
 * would obey `BUN_OPTIONS` and `BUN_BE_BUN` (Bun's manual), and the dynamic linker obeys `LD_*` and `DYLD_*` (ld.so(8), dyld(1)).
 */
export function childEnvironment(rules: EnvironmentRules, own: NodeJS.ProcessEnv): Environment {
  const names = rules.inherit ? Object.keys(own) : rules.allowed;
  const entries: [string, string][] = [];
  for (const name of names) {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && !loadsCode(name)) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

const loaders = new Set(["BUN_OPTIONS", "BUN_BE_BUN", "NODE_OPTIONS"]);

const loadsCode = (name: string) => loaders.has(name) || name.startsWith("LD_") || name.startsWith("DYLD_");
