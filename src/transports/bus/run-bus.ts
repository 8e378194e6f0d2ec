import { type Log, originOf } from "../../base/log/log.ts";
import type { Command, EmbeddedEngine } from "../../config/arguments/arguments.ts";
import { readLaunchVariables, readRuntimeOptions } from "../../config/environment.ts";
import { type Engine, startEngine } from "../../embedded-engine/engine.ts";
import { endSoon, onHangup, stderrLog, stopSignal, sweep } from "../../serve/lifecycle.ts";
import { ReloadableWorker } from "../../serve/reload.ts";
import { openTelemetry } from "../../serve/telemetry/telemetry.ts";
import { limitsFor, openWatchdog } from "../../serve/watchdog/watchdog.ts";
import { offeredFunctions, workers } from "../../serve/workers.ts";
import { serve } from "./serve-bus.ts";

/** Serves until SIGTERM or SIGINT (coder §2). Throws if the worker cannot start. */
export async function runWorker(command: Extract<Command, { name: "serve" }>): Promise<void> {
  const log = stderrLog(command.logLevel);
  const definition = workers[command.worker];
  const stopped = stopSignal(definition.isReloadable ? [] : ["SIGHUP"]);
  const worker = await ReloadableWorker.open(command, log);
  if (definition.isReloadable) onHangup(() => void worker.reload());
  const { runtime } = worker;
  let isStopping = false;
  const engine =
    command.embedded === undefined ? undefined : await embedEngine(command.embedded, log, () => isStopping);
  const functions = offeredFunctions(command);
  const url = engine?.url ?? command.url;
  const { workerName = command.worker, namespace } = readLaunchVariables(command.environment);
  const identity = {
    name: workerName,
    description: definition.description,
    namespace,
  };
  const watchdog = openWatchdog(limitsFor(runtime.callMilliseconds), readRuntimeOptions(command.environment));
  worker.onEnter = watchdog.enter;
  const { environment } = command;
  const telemetry = await openTelemetry({ environment, log, worker: workerName, system: "iii" });
  const serving = serve({
    url,
    identity,
    functions,
    invoke: telemetry?.observe(worker.invoke) ?? worker.invoke,
    triggers: worker.triggers,
    hasQuotas: () => worker.runtime.quotas !== undefined,
    log,
    telemetry: telemetry?.engine,
    unsentBytesTo: engine?.unsentBytesTo,
  });
  telemetry?.measure(worker);
  const review =
    runtime.reviewPort === undefined
      ? undefined
      : await (await import("../../review/beside.ts")).serveReviewBeside({
          port: runtime.reviewPort,
          environment,
          functions,
          invoke: worker.invoke,
          approvals: () => worker.runtime.approvals,
          treeChanges: () => worker.runtime.treeChanges,
          log,
        });
  void serving.registered.then(() =>
    log.info("serving", { url: originOf(url), ...runtime.serves, functions: functions.length }),
  );
  void sweep(runtime, log);
  const signal = await stopped;
  isStopping = true;
  watchdog.stopping();
  log.info("stopping", { signal });
  await Promise.all([serving.stop(), review?.stop(), worker.runtime.interrupt?.()]);
  await telemetry?.close();
  await engine?.stop();
  await worker.close();
  endSoon();
}

/**
 * Starts the embedded engine. It logs each frame that the production engine would drop, without its text, and
 * the address if the engine has generated its token. It logs no frames while the worker stops, since the SDK
 * then sends some of a type that no engine knows.
 */
async function embedEngine(
  { port, token }: EmbeddedEngine,
  log: Log,
  isStopping: () => boolean,
): Promise<Engine> {
  try {
    const engine = await startEngine({
      port,
      token,
      onFrame({ workerId, fault }) {
        if (fault !== undefined && !isStopping()) log.warn("frame dropped", { workerId, fault });
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
