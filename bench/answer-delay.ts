/**
 * Measures the cost of sending an answer no earlier than a millisecond after its call
 * (src/calls/earliest.ts). Engine, worker and client share this process. figures.ts starts it, because the
 * SDK takes over the console of a process with a worker.
 */
import { registerWorker } from "iii-sdk";
import { createLog } from "../src/base/log/log.ts";
import { createInvoke } from "../src/calls/invoke.ts";
import { defaultConfig } from "../src/coder/config.ts";
import { functions } from "../src/coder/functions.ts";
import { openCoder } from "../src/coder/services.ts";
import { startEngine } from "../src/embedded-engine/engine.ts";
import { serve } from "../src/transports/bus/serve-bus.ts";
import { countCallsOn, type Figure } from "./figures.ts";

const [folder = ".", rounds = "3"] = process.argv.slice(2);
const log = createLog({ level: "error", form: "json", write: (line) => process.stderr.write(line) });

async function countAnswered(earliestMilliseconds: number): Promise<Figure[]> {
  const engine = await startEngine();
  const runtime = await openCoder({ ...defaultConfig(), base_path: folder });
  const identity = { name: "coder", description: "" };
  const invoke = createInvoke(runtime, log);
  const serving = serve({ url: engine.url, identity, functions, invoke, log, earliestMilliseconds });
  await serving.registered;
  const client = registerWorker(engine.url, { workerName: "bench", otel: { enabled: false } });
  const bus = {
    call: (function_id: string, payload: unknown) => client.trigger({ function_id, payload }),
  };
  const how = earliestMilliseconds === 0 ? "at once" : `after ${earliestMilliseconds} ms`;
  const figures = await countCallsOn(bus, Number(rounds), `in one process, answered ${how}`);
  await client.shutdown();
  await serving.stop();
  await runtime.close();
  await engine.stop();
  return figures;
}

const figures = [...(await countAnswered(1)), ...(await countAnswered(0))];
process.stdout.write(JSON.stringify(figures));
