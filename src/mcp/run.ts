import type { Intent } from "../arguments.ts";
import { endSoon, stderrLog, stopSignal, sweep } from "../lifetime.ts";
import { limitsFor, openWatchdog, unwatched } from "../watchdog/watchdog.ts";
import { openInvoke } from "../worker/invoke.ts";
import { offered, openWorker } from "../workers.ts";
import { Desk } from "./desk.ts";

/** Serves MCP until SIGTERM or SIGINT, or until the client on stdio has gone. Throws what keeps it from starting. */
export async function runMcp(intent: Extract<Intent, { does: "mcp" }>): Promise<void> {
  const log = stderrLog(intent.logLevel);
  const workshop = await openWorker(intent, log);
  // On Node the loop stands still while nobody reads the pipe, which is no reason to end.
  const mayStandStill = intent.http === undefined && process.versions["bun"] === undefined;
  const watchdog = mayStandStill ? unwatched : openWatchdog(limitsFor(workshop.callMilliseconds));
  const desk = new Desk({
    worker: intent.worker,
    functions: offered(intent),
    invoke: openInvoke(workshop, log, watchdog.enter),
    log,
    callMilliseconds: workshop.callMilliseconds,
    maxReadBytes: workshop.maxReadBytes,
  });
  const served =
    intent.http === undefined
      ? (await import("./stdio.ts")).serveOnStdio(desk)
      : await (await import("./http.ts")).serveOnHttp(desk, intent.http, { announce });
  const over = intent.http === undefined ? "stdio" : "http";
  log.info("serving", { mcp: over, ...workshop.serves, tools: desk.tools.length });
  void sweep(workshop, log);
  const reason = await Promise.race([stopSignal(), served.closed.then(() => "the client left")]);
  watchdog.stopping();
  log.info("stopping", { reason });
  await Promise.all([served.stop(), workshop.interrupt?.()]);
  await workshop.close();
  endSoon();
}

/**
 * Prints on standard output, which is free over HTTP, and not in the log, which files keep. It need not be read: where
 * it is closed, clients know the token from elsewhere or not at all.
 */
function announce(configuration: string): void {
  process.stdout.on("error", () => {});
  process.stdout.write(configuration);
}
