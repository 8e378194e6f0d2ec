/**
 * Measures the cost of telemetry and of the audit trail: equal calls in this process with and without them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog } from "../src/base/log/log.ts";
import { openTelemetry } from "../src/serve/telemetry/telemetry.ts";
import { type ComparisonSet, makeNote, makeWorkFolder } from "./disk.ts";
import { openInProcess } from "./in-process.ts";

const log = createLog({ level: "warn", form: "json", write: console.error });

export async function openTelemetryComparisons(): Promise<ComparisonSet> {
  const collector = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as AddressInfo;
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const telemetry = await openTelemetry({ environment, log, worker: "coder", system: "iii" });
  if (telemetry === undefined) throw new Error("there is no telemetry");
  telemetry.measure({});
  const folder = makeWorkFolder("observed");
  const path = makeNote(folder);
  const observed = await openInProcess(folder, {}, (invoke) => telemetry.observe(invoke));
  const plain = await openInProcess(folder);
  const audited = await openInProcess(folder, {
    audit: { file: `${folder}.audit`, max_bytes: 2 ** 26, keep: 1 },
  });
  return {
    comparisons: [
      {
        group: "in process, with telemetry",
        name: "read-file, 1 KiB, with a span and metrics",
        ours: () => observed.call("coder::read-file", { path }),
        peers: [{ name: "without", target: 2, run: () => plain.call("coder::read-file", { path }) }],
        times: 2000,
      },
      {
        group: "in process, with an audit trail",
        name: "read-file, 1 KiB, with a line",
        ours: () => audited.call("coder::read-file", { path }),
        peers: [{ name: "without", run: () => plain.call("coder::read-file", { path }) }],
        times: 2000,
      },
    ],
    async [Symbol.asyncDispose]() {
      for (const one of [observed, plain, audited]) await one[Symbol.asyncDispose]();
      await telemetry.close();
      collector.closeAllConnections();
      collector.close();
    },
  };
}
