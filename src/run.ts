import type { EmbeddedEngine, Intent } from "./arguments.ts";
import { type Engine, startEngine } from "./engine/engine.ts";
import { endSoon, stderrLog, stopSignal, sweep } from "./lifetime.ts";
import { limitsFor, openWatchdog } from "./watchdog/watchdog.ts";
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
  const engine = intent.embedded === undefined ? undefined : await embedEngine(intent.embedded, log);
  const functions = offered(intent);
  const url = engine?.url ?? intent.url;
  const identity = {
    name: process.env["III_WORKER_NAME"] || intent.worker,
    description: worker.description,
    namespace: process.env["III_NAMESPACE"] || undefined,
  };
  const watchdog = openWatchdog(limitsFor(workshop.callMilliseconds));
  const serving = serve({
    url,
    identity,
    functions,
    invoke: openInvoke(workshop, log, watchdog.enter),
    log,
    unsentBytesTo: engine?.unsentBytesTo,
  });
  void serving.registered.then(() =>
    log.info("serving", { url: originOf(url), ...workshop.serves, functions: functions.length }),
  );
  void sweep(workshop, log);
  const signal = await stopped;
  watchdog.stopping();
  log.info("stopping", { signal });
  await Promise.all([serving.stop(), workshop.interrupt?.()]);
  await engine?.stop();
  await workshop.close();
  endSoon();
}

/**
 * Starts the engine that tries things out. A frame that the real one would drop is worth a line, its text is not; and so
 * is an address that nobody could know, since the engine made up its token.
 */
async function embedEngine({ port, token }: EmbeddedEngine, log: Log): Promise<Engine> {
  try {
    const engine = await startEngine({
      port,
      token,
      onFrame({ workerId, fault }) {
        if (fault !== undefined) log.warn("frame dropped", { workerId, fault });
      },
    });
    if (token === undefined && originOf(engine.url) !== engine.url)
      log.info("engine listening", { url: engine.url });
    return engine;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new Error(
      `port ${port} is taken; choose another with --engine embedded:PORT, or :0 for any free one`,
    );
  }
}
