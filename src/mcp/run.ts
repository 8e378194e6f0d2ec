import type { Intent } from "../arguments.ts";
import { endSoon, stderrLog, stopSignal, sweep } from "../lifetime.ts";
import { openInvoke } from "../worker/invoke.ts";
import { offered, openWorker } from "../workers.ts";
import { Desk } from "./desk.ts";

/** Serves MCP until SIGTERM or SIGINT, or until the client on stdio has gone. Throws what keeps it from starting. */
export async function runMcp(intent: Extract<Intent, { does: "mcp" }>): Promise<void> {
  const log = stderrLog(intent.logLevel);
  const workshop = await openWorker(intent, log);
  const desk = new Desk({
    worker: intent.worker,
    functions: offered(intent),
    invoke: openInvoke(workshop, log),
    log,
    callMilliseconds: workshop.callMilliseconds,
    maxReadBytes: workshop.maxReadBytes,
  });
  const served =
    intent.http === undefined
      ? (await import("./stdio.ts")).serveOnStdio(desk)
      : await (await import("./http.ts")).serveOnHttp(desk, intent.http);
  const over = intent.http === undefined ? "stdio" : "http";
  log.info("serving", { mcp: over, ...workshop.serves, tools: desk.tools.length });
  void sweep(workshop, log);
  const reason = await Promise.race([stopSignal(), served.closed.then(() => "the client left")]);
  log.info("stopping", { reason });
  await Promise.all([served.stop(), workshop.interrupt?.()]);
  await workshop.close();
  endSoon();
}
