/**
 * Records spans and metrics of calls, for users who have a collector. Without one, nothing of OpenTelemetry
 * is loaded.
 */
import { about } from "../../base/about.ts";
import type { Log } from "../../base/log/log.ts";
import type { Runtime } from "../../calls/contract/definition.ts";
import type { Invoke } from "../../calls/invoke.ts";
import { readTelemetryOptions, type TelemetryOptions } from "../../config/environment.ts";

/** The identity of this worker in the spans and metrics that the SDK sends to the engine. */
export interface EngineTelemetry {
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly metricsExportIntervalMs: number;
}

/** The options for opening telemetry. */
interface Opening {
  /** The environment variables of the process. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
  /** The `service.name` to use if no variable sets one. */
  readonly worker: string;
  /** The transport of calls. Only `iii` has an engine that could receive spans. */
  readonly system: "iii" | "mcp";
}

export interface Telemetry {
  /** The options for the SDK if the engine receives spans and metrics; `undefined` if a collector does. */
  readonly engine: EngineTelemetry | undefined;
  /**
   * Returns an `Invoke` that records a span of each call. Calls of this worker within it belong to its trace.
   */
  observe(invoke: Invoke): Invoke;
  /** Begins the metrics. If the engine receives them, call it after the SDK has connected. */
  measure(runtime: Pick<Runtime, "holds">): void;
  /** Sends the remaining data, for at most 400 ms. */
  close(): Promise<void>;
}

/**
 * Opens telemetry. Returns `undefined` if the variables do not enable it, or if it fails, which is then
 * logged.
 */
export async function openTelemetry({
  environment,
  log,
  worker,
  system,
}: Opening): Promise<Telemetry | undefined> {
  const options = optionsOf(environment, log);
  if (options === undefined) return undefined;
  if (options.collector === undefined && system !== "iii") {
    log.warn("no telemetry", {
      reason:
        "OTEL_ENABLED sends it to an engine, and MCP has none; set OTEL_EXPORTER_OTLP_ENDPOINT to the address of a collector.",
    });
    return undefined;
  }
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
