import { readdirSync } from "node:fs";
import {
  type Attributes,
  context,
  type Histogram,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { about } from "../../base/about.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import type { TraceParent } from "../../calls/contract/origin.ts";
import type { CallOutcome, Invoke } from "../../calls/invoke.ts";

const scope = ["coder", about.version] as const;

/** The bounds, in seconds, that the semantic conventions advise for durations of calls. */
const secondsBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const bytesBounds = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** The `error.type` of an error without a code (semantic conventions). */
const otherError = "_OTHER";

interface Instruments {
  readonly duration: Histogram;
  readonly size: Histogram;
}

/**
 * Records a span for each call, and metrics of all calls: function, outcome, code, time and bytes, but
 * nothing from a caller or a file. Names are those of OpenTelemetry's semantic conventions, if any.
 */
export class CallMeter {
  readonly #system: string;
  #instruments: Instruments | undefined;

  /** Creates a meter for calls over `system` (`rpc.system.name`). */
  constructor(system: string) {
    this.#system = system;
  }

  observe(invoke: Invoke): Invoke {
    const tracer = trace.getTracer(...scope);
    return async (definition, payload, origin = {}) => {
      const started = performance.now();
      const parent = propagation.extract(ROOT_CONTEXT, shortFieldsOf(origin.trace ?? {}));
      const attributes = this.#attributesOf(definition);
      const span = tracer.startSpan(definition.id, { kind: SpanKind.SERVER, attributes }, parent);
      const outcome = await context.with(trace.setSpan(parent, span), () =>
        invoke(definition, payload, origin),
      );
      this.#end(span, outcome, { attributes, started });
      return outcome;
    };
  }

  #attributesOf({ id }: FunctionDefinition): Attributes {
    return { "rpc.system.name": this.#system, "rpc.method": id };
  }

  #end(
    span: Span,
    outcome: CallOutcome,
    of: { readonly attributes: Attributes; readonly started: number },
  ): void {
    const { status } = outcome;
    const isError = status.outcome === "error";
    const bytes = "error" in outcome ? Buffer.byteLength(outcome.error) : outcome.bytes;
    span.setAttributes({ "coder.outcome": status.outcome, "coder.answer.size": bytes });
    if (status.failed !== undefined) span.setAttribute("coder.failed_entries", status.failed);
    const error = isError ? { "error.type": status.code ?? otherError } : {};
    if (isError) span.setAttributes(error).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    const attributes = { ...of.attributes, ...error };
    this.#instruments?.duration.record((performance.now() - of.started) / 1000, attributes);
    this.#instruments?.size.record(bytes, attributes);
  }

  /**
   * Begins the metrics. `holds` has the sizes that the worker holds, keyed by the names of metrics; its
   * values change.
   */
  begin(holds: Readonly<Record<string, number>>): void {
    const meter = metrics.getMeter(...scope);
    const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
      meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
    this.#instruments = {
      duration: histogram("rpc.server.call.duration", "s", secondsBounds),
      size: histogram("coder.answer.size", "By", bytesBounds),
    };
    const gauge = (name: string, read: () => number) =>
      meter
        .createObservableGauge(name, { unit: name.endsWith(".size") ? "By" : "1" })
        .addCallback((result) => result.observe(read()));
    gauge("process.memory.size", () => process.memoryUsage.rss());
    for (const [name, folder] of Object.entries(listedByTheKernel))
      if (entriesOf(folder) !== undefined) gauge(name, () => entriesOf(folder) ?? 0);
    for (const name of Object.keys(holds)) gauge(name, () => holds[name] ?? 0);
  }
}

/** Maximum length of a field of a trace, which is that of baggage in W3C Baggage (section 3.3.2). */
const maxTraceField = 8192;

/** Returns the fields that are worth reading: OpenTelemetry takes a second for those of megabytes. */
const shortFieldsOf = (trace: TraceParent): TraceParent =>
  Object.fromEntries(Object.entries(trace).filter(([, value]) => (value?.length ?? 0) <= maxTraceField));

/** Folders of procfs with one entry per item (proc(5)). A folder that a call has open is a descriptor. */
const listedByTheKernel = {
  "process.unix.file_descriptor.count": "/proc/self/fd",
  "process.thread.count": "/proc/self/task",
};

/** Counts the entries of a folder. Returns `undefined` without procfs. */
function entriesOf(folder: string): number | undefined {
  try {
    return readdirSync(folder).length;
  } catch {
    return undefined;
  }
}
