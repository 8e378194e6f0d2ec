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

/** The user whose git may read what calls write. */
export interface GitUserOptions {
  readonly home: string | undefined;
  /** Host paths of the configuration files that git reads for every repository; they need not exist. */
  readonly configFiles: readonly string[];
}

/** Reads `HOME`, `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL` and `GIT_CONFIG_SYSTEM`, as git does. */
export function readGitUser(variables: Variables): GitUserOptions {
  const { HOME: home, XDG_CONFIG_HOME: configHome, GIT_CONFIG_GLOBAL: ofUser } = variables;
  const usual = [
    ...(configHome
      ? [join(configHome, "git", "config")]
      : home
        ? [join(home, ".config", "git", "config")]
        : []),
    ...(home ? [join(home, ".gitconfig")] : []),
  ];
  return {
    home: home || undefined,
    configFiles: [variables["GIT_CONFIG_SYSTEM"] || "/etc/gitconfig", ...(ofUser ? [ofUser] : usual)],
  };
}

/** Where spans and metrics go, and what they say of this worker (OpenTelemetry, environment variable specification). */
export interface TelemetryOptions {
  /** Addresses of a collector, for OTLP over HTTP; undefined: the engine gets them (bus §4). */
  readonly collector: Collector | undefined;
  /** `OTEL_RESOURCE_ATTRIBUTES`, with `OTEL_SERVICE_NAME` as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** `OTEL_METRIC_EXPORT_INTERVAL`: milliseconds between two exports of metrics. */
  readonly metricMilliseconds: number;
}

export interface Collector {
  /** Undefined: it gets none. */
  readonly traces: string | undefined;
  readonly metrics: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The specification's default. */
const usualMetricMilliseconds = 60_000;

/**
 * Undefined without a variable that asks for telemetry: one of `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and
 * `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, or else `OTEL_ENABLED`, the switch of the iii SDK. Throws an Error of one sentence when it
 * cannot be had as they say.
 */
export function readTelemetryOptions(variables: Variables): TelemetryOptions | undefined {
  if (isOn(variables["OTEL_SDK_DISABLED"])) return undefined;
  const collector = readCollector(variables);
  if (collector === undefined && !isOn(variables["OTEL_ENABLED"])) return undefined;
  const milliseconds = Number(variables["OTEL_METRIC_EXPORT_INTERVAL"]);
  return {
    collector,
    resource: {
      ...readPairs(variables["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(variables["OTEL_SERVICE_NAME"] && { "service.name": variables["OTEL_SERVICE_NAME"] }),
    },
    metricMilliseconds: milliseconds > 0 ? milliseconds : usualMetricMilliseconds,
  };
}

const isOn = (value: string | undefined): boolean =>
  ["1", "on", "true", "yes"].includes(value?.toLowerCase() ?? "");

function readCollector(variables: Variables): Collector | undefined {
  const base = variables["OTEL_EXPORTER_OTLP_ENDPOINT"] || undefined;
  const below = base && (base.endsWith("/") ? base : `${base}/`);
  const traces = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || (below && `${below}v1/traces`);
  const metrics = variables["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"] || (below && `${below}v1/metrics`);
  if (traces === undefined && metrics === undefined) return undefined;
  const protocol = variables["OTEL_EXPORTER_OTLP_PROTOCOL"] || "http/json";
  if (protocol !== "http/json")
    throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL is ${JSON.stringify(protocol)}; it takes http/json.`);
  for (const url of [traces, metrics])
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
      throw new Error(
        "OTEL_EXPORTER_OTLP_ENDPOINT is no address; it takes one such as http://127.0.0.1:4318.",
      );
  return { traces, metrics, headers: readPairs(variables["OTEL_EXPORTER_OTLP_HEADERS"]) };
}

/** A list such as `key=value,other=two%20words`; what is no pair is left out. */
function readPairs(list = ""): Record<string, string> {
  const pairs = list.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(at, 0)).trim();
    return key === "" ? [] : [[key, decode(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
