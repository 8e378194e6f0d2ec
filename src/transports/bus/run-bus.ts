import { type Log, originOf } from "../../base/log/log.ts";
import { maxContractTokens, maxTokens } from "../../base/schema/message-size.ts";
import type { Runtime } from "../../calls/contract/definition.ts";
import type { Command, EmbeddedEngine } from "../../config/arguments/arguments.ts";
import { readLaunchVariables, readRuntimeOptions } from "../../config/environment.ts";
import { type Engine, startEngine } from "../../embedded-engine/engine.ts";
import type { Review, ReviewOptions } from "../../review/review-server.ts";
import {
  endInTheMiddle,
  endSoon,
  onHangup,
  startParts,
  stderrLog,
  stopSignal,
  sweep,
} from "../../serve/lifecycle.ts";
import { ReloadableWorker } from "../../serve/reload.ts";
import { openTelemetry } from "../../serve/telemetry/telemetry.ts";
import { limitsFor, openWatchdog } from "../../serve/watchdog/watchdog.ts";
import { offeredFunctions, workers } from "../../serve/workers.ts";
import { type Serving, serve } from "./serve-bus.ts";

type ServeCommand = Extract<Command, { name: "serve" }>;

/** Serves until SIGTERM or SIGINT (coder §2). Throws if the worker cannot start. */
export async function runWorker(command: ServeCommand): Promise<void> {
  const log = stderrLog(command.logLevel);
  const stopped = stopSignal(workers[command.worker].isReloadable ? [] : ["SIGHUP"]);
  const { runtime, stop } = await startParts((begun) => start(command, log, begun));
  void sweep(runtime, log);
  const signal = await stopped;
  log.info("stopping", { signal });
  const callsLeft = await stop();
  if (callsLeft > 0) endInTheMiddle(callsLeft, log);
  endSoon();
}

interface Started {
  readonly runtime: Runtime;
  /** Returns the number of calls that have not ended. */
  stop(): Promise<number>;
}

/**
 * Begins everything that can fail, and serves only then: until that, no call can come, and no connection is
 * retried.
 */
async function start(command: ServeCommand, log: Log, begun: (end: () => unknown) => void): Promise<Started> {
  const { environment } = command;
  const { description, isReloadable } = workers[command.worker];
  const { workerName = command.worker, namespace } = readLaunchVariables(environment);
  const worker = await ReloadableWorker.open(command, log);
  begun(() => worker.close());
  if (isReloadable) onHangup(() => void worker.reload());
  const { runtime } = worker;
  const watchdog = openWatchdog(limitsFor(runtime.callMilliseconds), readRuntimeOptions(environment));
  worker.onEnter = watchdog.enter;
  let isStopping = false;
  let serving: Serving | undefined;
  const engine =
    command.embedded === undefined
      ? undefined
      : await embedEngine(command.embedded, log, {
          isStopping: () => isStopping,
          takeLarge: (workerId, text) => serving?.takeLarge(workerId, text) ?? false,
        });
  begun(() => engine?.stop());
  const telemetry = await openTelemetry({ environment, log, worker: workerName, system: "iii" });
  begun(() => telemetry?.close());
  const functions = offeredFunctions(command);
  const review = await openReview(worker, { functions, log });
  begun(() => review?.stop());
  const url = engine?.url ?? command.url;
  serving = serve({
    url,
    identity: { name: workerName, description, namespace },
    functions,
    invoke: telemetry?.observe(worker.invoke) ?? worker.invoke,
    stopCalls: (milliseconds) => worker.stop(milliseconds),
    triggers: worker.triggers,
    hasQuotas: () => worker.runtime.quotas !== undefined,
    maxTokens: () => (worker.runtime.requestRules?.isForgiving ? maxTokens : maxContractTokens),
    log,
    telemetry: telemetry?.engine,
    unsentBytesTo: engine?.unsentBytesTo,
  });
  telemetry?.measure(worker);
  void serving.registered.then(() =>
    log.info("serving", { url: originOf(url), ...runtime.serves, functions: functions.length }),
  );
  return {
    runtime,
    async stop() {
      isStopping = true;
      watchdog.stopping();
      await Promise.all([serving?.stop(), review?.stop(), worker.runtime.interrupt?.()]);
      await telemetry?.close();
      await engine?.stop();
      return await worker.close();
    },
  };
}

/** Serves the page for people if the configuration says so. */
async function openReview(
  worker: ReloadableWorker,
  options: Pick<ReviewOptions, "functions" | "log">,
): Promise<Review | undefined> {
  const { reviewPort: port } = worker.runtime;
  if (port === undefined) return undefined;
  const { serveReviewBeside } = await import("../../review/beside.ts");
  return serveReviewBeside({
    ...options,
    port,
    invoke: worker.invoke,
    approvals: () => worker.runtime.approvals,
    treeChanges: () => worker.runtime.treeChanges,
  });
}

/** The worker beside the embedded engine. */
interface Embedding {
  readonly isStopping: () => boolean;
  readonly takeLarge: Serving["takeLarge"];
}

/**
 * Starts the embedded engine. It logs each frame that the production engine would drop, without its text, and
 * the address if the engine has generated its token. It logs no frames while the worker stops, since the SDK
 * then sends some of a type that no engine knows.
 */
async function embedEngine(
  { port, token }: EmbeddedEngine,
  log: Log,
  { isStopping, takeLarge }: Embedding,
): Promise<Engine> {
  try {
    const engine = await startEngine({
      port,
      token,
      takeLarge,
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
