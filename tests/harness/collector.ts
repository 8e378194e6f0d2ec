/** A collector of spans and metrics in the process of the test, which takes OTLP over HTTP as JSON. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Attributes;
  readonly events: readonly unknown[];
}

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: { readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
}

interface Point {
  readonly attributes: Attributes;
  readonly count?: number;
  readonly sum?: number;
  readonly asInt?: number;
  readonly asDouble?: number;
}

/** Converts attributes to an object. */
export const attributesOf = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export class TestCollector {
  /** The bodies of all requests so far. */
  readonly bodies: string[] = [];
  readonly headers: Readonly<Record<string, unknown>>[] = [];
  readonly spans: CollectedSpan[] = [];
  /** The newest state of each metric, by name. */
  readonly metrics = new Map<string, Metric>();
  /** The attributes of the newest sender. */
  resource: Record<string, unknown> = {};
  /** The status of its responses, or `undefined` to send none. */
  status: number | undefined = 200;
  /** The number of requests without a response. */
  unanswered = 0;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        this.headers.push(request.headers);
        this.take(Buffer.concat(chunks).toString());
        this.unanswered++;
        response.on("close", () => this.unanswered--);
        if (this.status !== undefined)
          response.writeHead(this.status, { "content-type": "application/json" }).end("{}");
      });
  });
  #wake: () => void = () => {};

  /** Listens, and resolves with the address. */
  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.#server.listen(0, "127.0.0.1", () =>
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`),
      );
    });
  }

  /** Resolves after a request that makes `check` true. */
  async until(check: () => boolean): Promise<void> {
    while (!check())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Records the request of a sender. */
  take(body: string): void {
    this.bodies.push(body);
    const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body);
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = attributesOf(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
    for (const { scopeMetrics } of resourceMetrics)
      for (const { metrics } of scopeMetrics)
        for (const metric of metrics) this.metrics.set(metric.name, metric);
    setImmediate(() => this.#wake());
  }
}
