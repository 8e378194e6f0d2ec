import { localUser } from "../base/local-user.ts";
import { createInvoke } from "../calls/invoke.ts";
import { RunningCalls } from "../calls/running-calls.ts";
import type { Command } from "../config/arguments/arguments.ts";
import { readRuntimeOptions } from "../config/environment.ts";
import {
  closeAfterCalls,
  endInTheMiddle,
  endSoon,
  startParts,
  stderrLog,
  stopSignal,
  sweep,
} from "../serve/lifecycle.ts";
import { limitsFor, openWatchdog } from "../serve/watchdog/watchdog.ts";
import { offeredFunctions, openWorker } from "../serve/workers.ts";
import { serveReview } from "./review-server.ts";

/** Milliseconds without the end of a call after which a stop ends those under way. */
const stopMilliseconds = 5000;

/** Serves the page until SIGTERM or SIGINT. Throws if it cannot start. */
export async function runReview(command: Extract<Command, { name: "review" }>): Promise<void> {
  const { port, token, logLevel, environment } = command;
  const log = stderrLog(logLevel);
  const running = new RunningCalls();
  const { runtime, watchdog, review } = await startParts(async (begun) => {
    const runtime = await openWorker(command, log);
    begun(() => runtime.close());
    const watchdog = openWatchdog(limitsFor(runtime.callMilliseconds), readRuntimeOptions(environment));
    const review = await serveReview({
      port,
      token,
      option: "--port",
      functions: offeredFunctions(command),
      invoke: createInvoke(runtime, log, { onEnter: watchdog.enter, running }),
      approvals: () => runtime.approvals,
      treeChanges: () => runtime.treeChanges,
      author: localUser(),
      log,
    });
    return { runtime, watchdog, review };
  });
  process.stdout.on("error", () => {});
  process.stdout.write(`${review.url}\n`);
  log.info("serving", { review: "on loopback", ...runtime.serves });
  for (const roots of runtime.findOtherJournals?.() ?? [])
    log.info("not shown", {
      reason: "a server over other folders, which overlap with these, has recorded changes",
      folders: roots.map(({ hostPath }) => hostPath).join(" "),
    });
  void sweep(runtime, log);
  const reason = await stopSignal(["SIGHUP"]);
  watchdog.stopping();
  log.info("stopping", { reason });
  await Promise.all([review.stop(), running.stop(stopMilliseconds)]);
  const callsLeft = await closeAfterCalls(runtime, running);
  if (callsLeft > 0) endInTheMiddle(callsLeft, log);
  endSoon();
}
