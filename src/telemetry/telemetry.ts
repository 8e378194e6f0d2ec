/** Spans and metrics of calls, for those who have a collector. Without one nothing of OpenTelemetry is loaded for it. */
import { about } from "../about.ts";
import { readTelemetryOptions, type TelemetryOptions } from "../config/environment.ts";
import type { Runtime } from "../contract/definition.ts";
import type { Log } from "../log/log.ts";
import type { EngineTelemetry } from "../worker/bus.ts";
import type { Invoke } from "../worker/invoke.ts";

/** What telemetry is opened with. */
interface Opening {
  /** Variables of the process. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  /** `service.name`, where the variables say none. */
  readonly worker: string;
  /** How calls come: only `iii` has an engine that could take spans. */
  readonly system: "iii" | "mcp";
}

export interface Telemetry {
  /** For the SDK, where the engine takes spans and metrics; undefined where a collector does. */
  readonly engine: EngineTelemetry | undefined;
  /** Makes a span of each call that is made so. The calls of this worker within it belong to its trace. */
  observe(invoke: Invoke): Invoke;
  /** Begins the metrics. In an engine's telemetry after the SDK was connected. */
  measure(runtime: Pick<Runtime, "holds">): void;
  /** Sends what there is, for at most 400 ms. */
  close(): Promise<void>;
}

/** Undefined where the variables do not ask for telemetry, or where it cannot be had, which the log then says. */
export async function openTelemetry({
  environment,
  log,
  worker,
  system,
}: Opening): Promise<Telemetry | undefined> {
  const options = optionsOf(environment, log);
  if (options === undefined || (options.collector === undefined && system !== "iii")) return undefined;
  const resource = { "service.name": worker, "service.version": about.version, ...options.resource };
  const { CallMeter } = await import("./call-meter.ts");
  const meter = new CallMeter(system);
  const observing = {
    observe: (invoke: Invoke) => meter.observe(invoke),
    measure: (runtime: Pick<Runtime, "holds">) => meter.begin(runtime.holds ?? {}),
  };
  if (options.collector === undefined)
    return { ...observing, engine: engineTelemetry(options, resource), close: async () => {} };
  const { exportTo } = await import("./collector.ts");
  const close = exportTo({ ...options, collector: options.collector, resource, log });
  return { ...observing, engine: undefined, close };
}

function optionsOf(environment: NodeJS.ProcessEnv, log: Log): TelemetryOptions | undefined {
  try {
    return readTelemetryOptions(environment);
  } catch (error) {
    log.warn("no telemetry", { reason: (error as Error).message });
    return undefined;
  }
}

const engineTelemetry = (
  { metricMilliseconds }: TelemetryOptions,
  resource: { readonly "service.name": string; readonly "service.version": string },
): EngineTelemetry => ({
  serviceName: resource["service.name"],
  serviceVersion: resource["service.version"],
  metricsExportIntervalMs: metricMilliseconds,
});
