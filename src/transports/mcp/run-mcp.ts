import type { Log } from "../../base/log/log.ts";
import type { Runtime } from "../../calls/contract/definition.ts";
import { createInvoke, type Invoke } from "../../calls/invoke.ts";
import { RunningCalls } from "../../calls/running-calls.ts";
import type { Command } from "../../config/arguments/arguments.ts";
import { readRuntimeOptions } from "../../config/environment.ts";
import type { Review } from "../../review/review-server.ts";
import {
  closeAfterCalls,
  endInTheMiddle,
  endSoon,
  startParts,
  stderrLog,
  stopSignal,
  sweep,
} from "../../serve/lifecycle.ts";
import { openTelemetry } from "../../serve/telemetry/telemetry.ts";
import { limitsFor, openWatchdog, unwatched } from "../../serve/watchdog/watchdog.ts";
import { offeredFunctions, openWorker } from "../../serve/workers.ts";
import { ToolHost } from "./tool-host.ts";
import type { Listener } from "./transport.ts";

type McpCommand = Extract<Command, { name: "mcp" }>;

/** Serves MCP until SIGTERM or SIGINT, or until the client on stdio leaves. Throws when it cannot start. */
export async function runMcp(command: McpCommand): Promise<void> {
  const log = stderrLog(command.logLevel);
  const { runtime, closed, stop } = await startParts((begun) => start(command, log, begun));
  void sweep(runtime, log);
  const reason = await Promise.race([stopSignal(["SIGHUP"]), closed.then(() => "the client left")]);
  log.info("stopping", { reason });
  const callsLeft = await stop();
  if (callsLeft > 0) endInTheMiddle(callsLeft, log);
  endSoon();
}

interface Started extends Pick<Listener, "closed"> {
  readonly runtime: Runtime;
  /** Returns the number of calls that have not ended. */
  stop(): Promise<number>;
}

/** Starts everything that can fail before it serves clients. */
async function start(command: McpCommand, log: Log, begun: (end: () => unknown) => void): Promise<Started> {
  const { environment, worker, http } = command;
  const runtime = await openWorker(command, log);
  begun(() => runtime.close());
  // On Node the event loop blocks while the client does not read the pipe, which must not end the process.
  const mayStandStill = http === undefined && process.versions["bun"] === undefined;
  const watchdog = mayStandStill
    ? unwatched
    : openWatchdog(limitsFor(runtime.callMilliseconds), readRuntimeOptions(environment));
  const telemetry = await openTelemetry({ environment, log, worker, system: "mcp" });
  begun(() => telemetry?.close());
  const running = new RunningCalls();
  const invoke = createInvoke(runtime, log, { onEnter: watchdog.enter, running });
  telemetry?.measure(runtime);
  const host = hostOf(command, { runtime, invoke: telemetry?.observe(invoke) ?? invoke, running, log });
  const review = await openReview(command, { runtime, host, invoke });
  begun(() => review?.stop());
  const served =
    http === undefined
      ? (await import("./stdio.ts")).serveOnStdio(host)
      : await (await import("./http.ts")).serveOnHttp(host, http, { announce });
  const over = http === undefined ? "stdio" : "http";
  log.info("serving", { mcp: over, ...runtime.serves, tools: host.tools.length });
  return {
    runtime,
    closed: served.closed,
    async stop() {
      watchdog.stopping();
      await Promise.all([served.stop(), review?.stop(), runtime.interrupt?.()]);
      await telemetry?.close();
      return await closeAfterCalls(runtime, running);
    },
  };
}

interface Hosted {
  readonly runtime: Runtime;
  readonly invoke: Invoke;
  readonly running: RunningCalls;
  readonly log: Log;
}

const hostOf = (command: McpCommand, { runtime, invoke, running, log }: Hosted): ToolHost =>
  new ToolHost({
    worker: command.worker,
    functions: offeredFunctions({ ...command, hasCommands: runtime.familyOf !== undefined }),
    invoke,
    stopCalls: (milliseconds) => running.stop(milliseconds),
    log,
    millisecondsOf: (definition) => (runtime.familyOf?.(definition) ?? runtime).callMilliseconds,
    maxReadBytes: runtime.maxReadBytes,
    treeChanges: runtime.treeChanges,
    commandRules: runtime.commandRules,
    startRoot: runtime.startRoot,
    approval: runtime.approvals?.mode,
    keepsJournal: runtime.keepsJournal,
    listRoots: () => runtime.listRoots?.(),
    describeOthers: () => runtime.describeOthers?.(),
    hasApp: runtime.describeOthers !== undefined && !command.readOnly,
    warmUp: () => void runtime.warmUp?.(),
    isStructured: command.isStructured,
    takesFlatEnvelopes: runtime.takesFlatEnvelopes ?? false,
    isForgiving: runtime.requestRules?.isForgiving ?? false,
    listsRareFields: command.tools === "all",
  });

interface Reviewed {
  readonly runtime: Runtime;
  readonly host: ToolHost;
  readonly invoke: Invoke;
}

/** Serves the page for people if the command line or the configuration says so. */
async function openReview(
  { hasReview }: McpCommand,
  { runtime, host, invoke }: Reviewed,
): Promise<Review | undefined> {
  const port = runtime.reviewPort ?? (hasReview ? 0 : undefined);
  if (port === undefined) return undefined;
  const { serveReviewBeside } = await import("../../review/beside.ts");
  return serveReviewBeside({
    port,
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
