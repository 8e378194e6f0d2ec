import type { Intent } from "./arguments.ts";
import { type Engine, startEngine } from "./engine/engine.ts";
import { endSoon, stderrLog, stopSignal, sweep } from "./lifetime.ts";
import { openInvoke } from "./worker/invoke.ts";
import { type Log, originOf } from "./worker/log.ts";
import { serve } from "./worker/serve.ts";
import { offered, openWorker, workers } from "./workers.ts";

/** Serves until SIGTERM or SIGINT (specification, section 2). Throws what keeps the worker from starting. */
export async function runWorker(intent: Extract<Intent, { does: "serve" }>): Promise<void> {
  const log = stderrLog(intent.logLevel);
  const stopped = stopSignal();
  const worker = workers[intent.worker];
  const workshop = await openWorker(intent, log);
  const engine = intent.embeddedPort === undefined ? undefined : await embedEngine(intent.embeddedPort, log);
  const functions = offered(intent);
  const url = engine?.url ?? intent.url;
  const identity = {
    name: process.env["III_WORKER_NAME"] || intent.worker,
    description: worker.description,
    namespace: process.env["III_NAMESPACE"] || undefined,
  };
  const serving = serve({
    url,
    identity,
    functions,
    invoke: openInvoke(workshop, log),
    log,
    unsentBytesTo: engine?.unsentBytesTo,
  });
  void serving.registered.then(() =>
    log.info("serving", { url: originOf(url), ...workshop.serves, functions: functions.length }),
  );
  void sweep(workshop, log);
  const signal = await stopped;
  log.info("stopping", { signal });
  await Promise.all([serving.stop(), workshop.interrupt?.()]);
  await engine?.stop();
  await workshop.close();
  endSoon();
}

/** Starts the engine that tries things out; a frame that the real one would drop is worth a line, its text is not. */
async function embedEngine(port: number, log: Log): Promise<Engine> {
  try {
    return await startEngine({
      port,
      onFrame({ workerId, fault }) {
        if (fault !== undefined) log.warn("frame dropped", { workerId, fault });
      },
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new Error(
      `port ${port} is taken; choose another with --engine embedded:PORT, or :0 for any free one`,
    );
  }
}
