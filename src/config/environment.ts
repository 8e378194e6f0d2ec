/**
 * Reads environment variables into options, except the defaults of flags (`config/arguments/flags.ts`). An
 * empty variable counts as unset.
 */
import { isAbsolute, join } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

const backends = ["openat", "descriptors", "current-directory"] as const;

/** Options of a worker for tests. Callers see no difference. */
export interface RuntimeOptions {
  /** The jail's backend from `CODER_JAIL`, or `undefined` for the best that works here. */
  readonly backend: (typeof backends)[number] | undefined;
  /** False with `CODER_THREADS=0`, so that all work runs in one thread. */
  readonly threads: boolean;
}

/** Reads the options. Throws an Error of one sentence if a variable has an invalid value. */
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
  /** `III_WORKER_NAME`: the worker's name on the bus. */
  readonly workerName: string | undefined;
  /** `III_NAMESPACE`: the namespace of its functions. */
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
 * Returns this program's folder among those where programs keep state for the user: in `XDG_STATE_HOME`, else
 * in `.local/state` of `HOME`. As in the XDG Base Directory Specification, a relative path counts as unset.
 * Returns `undefined` if both are unset.
 */
export function readStateDirectory(variables: Variables): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = variables;
  if (state !== undefined && isAbsolute(state)) return join(state, "coder");
  return home !== undefined && isAbsolute(home) ? join(home, ".local", "state", "coder") : undefined;
}

/** The user whose git may read files that calls write. */
export interface GitUserOptions {
  readonly home: string | undefined;
  /** Host paths of the configuration files that git reads for every repository. They need not exist. */
  readonly configFiles: readonly string[];
}

/** Reads `HOME`, `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL` and `GIT_CONFIG_SYSTEM`, like git does. */
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

/**
 * The destination of spans and metrics, and how they describe this worker (OpenTelemetry, environment
 * variable specification).
 */
export interface TelemetryOptions {
  /** Addresses of a collector, for OTLP over HTTP; if `undefined`, the engine gets them (bus §4). */
  readonly collector: Collector | undefined;
  /** `OTEL_RESOURCE_ATTRIBUTES`, with `OTEL_SERVICE_NAME` as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** `OTEL_METRIC_EXPORT_INTERVAL`: milliseconds between two exports of metrics. */
  readonly metricMilliseconds: number;
}

export interface Collector {
  /** The address for traces; if `undefined`, none are sent. */
  readonly traces: string | undefined;
  readonly metrics: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The default of the specification, in milliseconds. */
const defaultMetricMilliseconds = 60_000;

/**
 * Reads the options. Returns `undefined` unless a variable enables telemetry: one of
 * `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and
 * `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, or else `OTEL_ENABLED`, the switch of the iii SDK. Throws an Error
 * of one sentence if the variables cannot be followed.
 */
export function readTelemetryOptions(variables: Variables): TelemetryOptions | undefined {
  if (isOn(variables["OTEL_SDK_DISABLED"])) return undefined;
  const collector = readCollector(variables);
  if (collector === undefined && !isOn(variables["OTEL_ENABLED"])) return undefined;
  requireSampler(variables);
  for (const name of batchVariables) readPositive(variables, name);
  return {
    collector,
    resource: {
      ...readPairs(variables, "OTEL_RESOURCE_ATTRIBUTES"),
      ...(variables["OTEL_SERVICE_NAME"] && { "service.name": variables["OTEL_SERVICE_NAME"] }),
    },
    metricMilliseconds: readPositive(variables, "OTEL_METRIC_EXPORT_INTERVAL") ?? defaultMetricMilliseconds,
  };
}

/** The variables with numbers that the SDK reads itself. It takes its default for an invalid one. */
const batchVariables = [
  "OTEL_BSP_SCHEDULE_DELAY",
  "OTEL_BSP_EXPORT_TIMEOUT",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
];

function readPositive(variables: Variables, name: string): number | undefined {
  const text = variables[name];
  if (text === undefined || text === "") return undefined;
  if (Number(text) > 0) return Number(text);
  throw new Error(`${name} is ${JSON.stringify(text)}; it takes a number above 0.`);
}

const ratioSamplers = ["traceidratio", "parentbased_traceidratio"];
const samplers = [
  "always_on",
  "always_off",
  "parentbased_always_on",
  "parentbased_always_off",
  ...ratioSamplers,
];

/** Throws for a sampler that the SDK does not have. It would record every span instead. */
function requireSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Variables): void {
  if (!name) return;
  if (!samplers.includes(name))
    throw new Error(
      `OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}; it takes one of ${samplers.join(", ")}.`,
    );
  if (ratio && ratioSamplers.includes(name) && !(Number(ratio) >= 0 && Number(ratio) <= 1))
    throw new Error(
      `OTEL_TRACES_SAMPLER_ARG is ${JSON.stringify(ratio)}; it takes a number between 0 and 1.`,
    );
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
  return { traces, metrics, headers: readPairs(variables, "OTEL_EXPORTER_OTLP_HEADERS") };
}

/**
 * Reads a list such as `key=value,other=two%20words`. Throws an Error for items that are not pairs, without
 * the list, which may hold a password.
 */
function readPairs(variables: Variables, name: string): Record<string, string> {
  const items = (variables[name] ?? "").split(",").filter((item) => item.trim() !== "");
  return Object.fromEntries(items.map((item) => readPair(item, name)));
}

function readPair(item: string, name: string): readonly [string, string] {
  const [, key, value = ""] = /^\s*([\w!#$%&'*+.^`|~/-]+)\s*=(.*)$/s.exec(item) ?? [];
  try {
    if (key !== undefined) return [key, decodeURIComponent(value.trim())];
  } catch {
    // A percent sign that begins no code.
  }
  throw new Error(`${name} is not a list of pairs; it takes one such as key=value,other=two%20words.`);
}
