/**
 * Reads environment variables into options, except the defaults of flags (`arguments/flags.ts`). An empty variable counts
 * as unset.
 */
import { isAbsolute, join } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

const backends = ["openat", "descriptors", "current-directory"] as const;

/** Options of a worker for tests; callers see no difference. */
export interface RuntimeOptions {
  /** `CODER_JAIL`: the jail's backend; absent: the best that works here. */
  readonly backend: (typeof backends)[number] | undefined;
  /** False with `CODER_THREADS=0`: all work runs in one thread. */
  readonly threads: boolean;
}

/** Throws an Error of one sentence when a variable has a value that it does not take. */
export function readRuntimeOptions(variables: Variables): RuntimeOptions {
  return { backend: readBackend(variables["CODER_JAIL"]), threads: variables["CODER_THREADS"] !== "0" };
}

function readBackend(name: string | undefined): RuntimeOptions["backend"] {
  if (name === undefined || name === "") return undefined;
  const known = backends.find((backend) => backend === name);
  if (known !== undefined) return known;
  throw new Error(`CODER_JAIL is ${JSON.stringify(name)}; it takes one of ${backends.join(", ")}.`);
}

/** Variables that an iii engine, or iii compose, sets for a worker. */
export interface LaunchVariables {
  /** `III_WORKER_NAME`: what the worker is called on the bus. */
  readonly workerName: string | undefined;
  /** `III_NAMESPACE`: that of its functions. */
  readonly namespace: string | undefined;
  /** `III_CONFIG`: the worker's configuration file. */
  readonly configFile: string | undefined;
  /** `III_CONFIG_PATH`: the engine's configuration file. */
  readonly engineConfigFile: string | undefined;
}

export const readLaunchVariables = (variables: Variables): LaunchVariables => ({
  workerName: variables["III_WORKER_NAME"] || undefined,
  namespace: variables["III_NAMESPACE"] || undefined,
  configFile: variables["III_CONFIG"] || undefined,
  engineConfigFile: variables["III_CONFIG_PATH"] || undefined,
});

/**
 * The folder below which programs keep state for this user, ours in it: in `XDG_STATE_HOME`, else in `.local/state` of
 * `HOME`, as the XDG Base Directory Specification has it, by which a relative path is none. Undefined without both.
 */
export function readStateDirectory(variables: Variables): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = variables;
  if (state !== undefined && isAbsolute(state)) return join(state, "coder");
  return home !== undefined && isAbsolute(home) ? join(home, ".local", "state", "coder") : undefined;
}
