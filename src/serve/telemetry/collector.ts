/** Exports to a collector by OTLP over HTTP, as JSON. */
import { randomUUID } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import {
  type ISerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import { Resource } from "@opentelemetry/resources";
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, NodeTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { type Log, originOf } from "../../base/log/log.ts";
import type { Collector, TelemetryOptions } from "../../config/environment.ts";

export interface ExportOptions extends TelemetryOptions {
  readonly collector: Collector;
  readonly log: Log;
}

/**
 * Milliseconds that a stop waits for the collector. iii sends SIGKILL 3 s after SIGTERM, and calls in flight
 * get the larger part of that.
 */
const closeMilliseconds = 400;

/**
 * Registers providers of spans and metrics, whose resource is this process. Returns a function that sends the
 * rest and ends them.
 */
export function exportTo({
  collector,
  resource: attributes,
  metricMilliseconds,
  log,
}: ExportOptions): () => Promise<void> {
  const resource = Resource.default().merge(
    new Resource({ "service.instance.id": randomUUID(), ...attributes }),
  );
  const { traces, metrics: metricsUrl, headers } = collector;
  const providers: { shutdown(): Promise<void> }[] = [];
  if (traces !== undefined) {
    const exporter = new HttpExporter<ReadableSpan[]>({
      signal: "traces",
      url: traces,
      headers,
      serializer: JsonTraceSerializer,
      log,
    });
    const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
    provider.register();
    providers.push(provider);
  }
  if (metricsUrl !== undefined) {
    const exporter = new HttpExporter<ResourceMetrics>({
      signal: "metrics",
      url: metricsUrl,
      headers,
      serializer: JsonMetricsSerializer,
      log,
    });
    const reader = new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: metricMilliseconds,
      exportTimeoutMillis: Math.min(metricMilliseconds, requestMilliseconds),
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    metrics.setGlobalMeterProvider(provider);
    providers.push(provider);
  }
  return async () => {
    const ended = Promise.allSettled(providers.map((provider) => provider.shutdown()));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, closeMilliseconds);
    });
    await Promise.race([ended, late]);
    clearTimeout(timer);
  };
}

/** The time limit of a request: the default of `OTEL_EXPORTER_OTLP_TIMEOUT`. */
const requestMilliseconds = 10_000;

interface HttpOptions<Batch> {
  readonly signal: "traces" | "metrics";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serializer: ISerializer<Batch, unknown>;
  readonly log: Log;
}

/** Posts each batch. A collector that is away loses it, and calls never wait for one. */
class HttpExporter<Batch> {
  readonly #options: HttpOptions<Batch>;
  #isRefusing = false;

  constructor(options: HttpOptions<Batch>) {
    this.#options = options;
  }

  export(batch: Batch, done: (result: ExportResult) => void): void {
    this.#post(batch).then(
      () => {
        this.#isRefusing = false;
        done({ code: ExportResultCode.SUCCESS });
      },
      (error: Error) => {
        this.#sayRefused(error);
        done({ code: ExportResultCode.FAILED, error });
      },
    );
  }

  async #post(batch: Batch): Promise<void> {
    const { url, headers, serializer } = this.#options;
    const body = serializer.serializeRequest(batch) ?? null;
    const send = () =>
      fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(requestMilliseconds),
      });
    // An idle connection that the collector has closed fails only when the next batch uses it.
    const { ok, status } = await send().catch(send);
    if (!ok) throw new Error(`HTTP status ${status}`);
  }

  /** Logs a refusal, once per series of them. */
  #sayRefused({ message }: Error): void {
    const { signal, log, url } = this.#options;
    if (!this.#isRefusing)
      log.warn("the collector takes no telemetry", { signal, url: originOf(url), reason: message });
    this.#isRefusing = true;
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
