import type { Runtime } from "../../calls/contract/definition.ts";
import { createInvoke, type Invoke } from "../../calls/invoke.ts";
import type { Command } from "../../config/arguments/arguments.ts";
import { readRuntimeOptions } from "../../config/environment.ts";
import type { Review } from "../../review/review-server.ts";
import { endSoon, stderrLog, stopSignal, sweep } from "../../serve/lifecycle.ts";
import { openTelemetry } from "../../serve/telemetry/telemetry.ts";
import { limitsFor, openWatchdog, unwatched } from "../../serve/watchdog/watchdog.ts";
import { offeredFunctions, openWorker } from "../../serve/workers.ts";
import { ToolHost } from "./tool-host.ts";

/** Serves MCP until SIGTERM or SIGINT, or until the client on stdio leaves. Throws when it cannot start. */
export async function runMcp(command: Extract<Command, { name: "mcp" }>): Promise<void> {
  const log = stderrLog(command.logLevel);
  const runtime = await openWorker(command, log);
  // On Node the event loop blocks while the client does not read the pipe, which must not end the process.
  const mayStandStill = command.http === undefined && process.versions["bun"] === undefined;
  const watchdog = mayStandStill
    ? unwatched
    : openWatchdog(limitsFor(runtime.callMilliseconds), readRuntimeOptions(command.environment));
  const { environment, worker } = command;
  const telemetry = await openTelemetry({ environment, log, worker, system: "mcp" });
  const invoke = createInvoke(runtime, log, watchdog.enter);
  telemetry?.measure(runtime);
  const host = new ToolHost({
    worker,
    functions: offeredFunctions({ ...command, hasCommands: runtime.familyOf !== undefined }),
    invoke: telemetry?.observe(invoke) ?? invoke,
    log,
    callMilliseconds: runtime.callMilliseconds,
    maxReadBytes: runtime.maxReadBytes,
    treeChanges: runtime.treeChanges,
    commandRules: runtime.commandRules,
    approval: runtime.approvals?.mode,
    keepsJournal: runtime.keepsJournal,
    describeOthers: () => runtime.describeOthers?.(),
    hasApp: runtime.describeOthers !== undefined && !command.readOnly,
    warmUp: () => void runtime.warmUp?.(),
    isStructured: command.isStructured,
    takesFlatEnvelopes: runtime.takesFlatEnvelopes ?? false,
    isForgiving: runtime.requestRules?.isForgiving ?? false,
    listsRareFields: command.tools === "all",
  });
  const served =
    command.http === undefined
      ? (await import("./stdio.ts")).serveOnStdio(host)
      : await (await import("./http.ts")).serveOnHttp(host, command.http, { announce });
  const review = await openReview(command, { runtime, host, invoke });
  const over = command.http === undefined ? "stdio" : "http";
  log.info("serving", { mcp: over, ...runtime.serves, tools: host.tools.length });
  void sweep(runtime, log);
  const reason = await Promise.race([stopSignal(["SIGHUP"]), served.closed.then(() => "the client left")]);
  watchdog.stopping();
  log.info("stopping", { reason });
  await Promise.all([served.stop(), review?.stop(), runtime.interrupt?.()]);
  await telemetry?.close();
  await runtime.close();
  endSoon();
}

interface Reviewed {
  readonly runtime: Runtime;
  readonly host: ToolHost;
  readonly invoke: Invoke;
}

/** Serves the page for people if the command line or the configuration says so. */
async function openReview(
  { hasReview, environment }: Extract<Command, { name: "mcp" }>,
  { runtime, host, invoke }: Reviewed,
): Promise<Review | undefined> {
  const port = runtime.reviewPort ?? (hasReview ? 0 : undefined);
  if (port === undefined) return undefined;
  const { serveReviewBeside } = await import("../../review/beside.ts");
  return serveReviewBeside({
    port,
    environment,
    functions: [...host.functions.values()],
    invoke,
    approvals: () => runtime.approvals,
    treeChanges: () => runtime.treeChanges,
    log: host.log,
  });
}

/**
 * Prints to standard output, which HTTP leaves free, and not to the log, which files keep. Ignores a closed
 * output: then the operator does not want the token printed.
 */
function announce(configuration: string): void {
  process.stdout.on("error", () => {});
  process.stdout.write(configuration);
}
