/**
 * The entry point. It parses the command line into one command, and loads only what that needs. `--version`
 * and `--print-schema` must answer in milliseconds, so everything heavy is loaded with `import()`.
 */
import type { WorkerName } from "./base/about.ts";
import { restartWith } from "./base/bun.ts";
import type { CallInterrupted } from "./cli/call.ts";
import { type Command, commandWords, parseArguments, workerCalled } from "./config/arguments/arguments.ts";
import { UnknownCommand, UsageError } from "./config/arguments/usage-error.ts";

/**
 * Options of the JavaScript engine for a server.
 *
 * The thresholds are the numbers of weighted executions after which each tier of the JIT compiles a function.
 * The defaults of the engine are 500, 1,000 and 100,000. They make compilation a fifth of a start and a
 * quarter of a first search. A higher second number leaves the calls of a session in the slowest tier, which
 * doubles their time.
 *
 * By default, a heap doubles before it is collected as long as it is below a quarter of the machine's memory.
 * With this size in place of the machine's, that holds up to 96 MiB, and a heap of more than 192 MiB grows by
 * a quarter. Only the watched tree of a large folder makes it that large.
 */
const engineOptions = {
  BUN_JSC_thresholdForJITAfterWarmUp: "3000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "1000",
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1000000",
  BUN_JSC_forceRAMSize: String(384 * 2 ** 20),
};

const called = workerCalled(process.argv0);

async function main(): Promise<void> {
  // A reader may leave early, as in `coder --help | head -1`; a full disk is a failure.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0);
    process.stderr.write(`${called}: the output cannot be written (${code})\n`);
    process.exit(1);
  });
  try {
    await carryOut(parseArguments(process.argv.slice(2), process.env, called));
  } catch (error) {
    process.exitCode = statusOf(error);
    const shown = error instanceof UnknownCommand ? await functionMeant(error) : error;
    process.stderr.write(`${sentence(shown)}\n`);
  }
}

/** Returns the error of a word that is not a command, with the function that it most likely stands for. */
async function functionMeant(error: UnknownCommand): Promise<UsageError> {
  const { word, worker } = error;
  const [{ functions }, { similarFunction }] = await Promise.all([
    workerNamed(worker),
    import("./cli/function-named.ts"),
  ]);
  const meant = similarFunction(word, worker, functions);
  return meant === undefined ? error : error.withFunction(meant.id.slice(worker.length + 2));
}

async function carryOut(command: Command): Promise<void> {
  switch (command.name) {
    case "version":
      return print(`${command.worker} ${(await import("./base/about.ts")).about.version}\n`);
    case "help":
      return print(await help(command));
    case "licenses":
      return print((await import("./cli/licenses.ts")).notices());
    case "completions":
      return print(await completions(command));
    case "man":
      return print((await import("./cli/man.ts")).renderManual(command.worker));
    case "manifest":
      return printJson(
        (await import("./calls/reference/manifest.ts")).renderManifest(await workerNamed(command.worker)),
      );
    case "print-schema":
      return printJson(await reference(command));
    case "setup":
      return print(await (await import("./cli/setup/setup.ts")).runSetup(command));
    case "audit-verify": {
      const { text, status } = (await import("./calls/audit/verify.ts")).verifyTrail(command.file);
      process.exitCode = status;
      return print(text);
    }
    case "call": {
      const { text, status } = await (await import("./cli/call.ts")).runCall(
        command,
        process.stdout.isTTY === true,
      );
      process.exitCode = status;
      return print(text);
    }
    case "mcp":
      restartWith(engineOptions);
      return (await import("./transports/mcp/run-mcp.ts")).runMcp(command);
    case "review":
      return (await import("./review/run-review.ts")).runReview(command);
    case "serve":
      restartWith(engineOptions);
      return (await import("./transports/bus/run-bus.ts")).runWorker(command);
  }
}

const workerNamed = async (name: WorkerName) => (await import("./serve/workers.ts")).workers[name];

/** Maximum columns of a help, so that its lines stay readable in a wide terminal. */
const helpColumns = 100;

async function help({ worker, topic }: Extract<Command, { name: "help" }>): Promise<string> {
  const general = (await import("./config/arguments/help.ts")).renderHelp(worker, topic?.command);
  const isCall = topic?.command === "call";
  if (topic === undefined || (!isCall && topic.function === undefined)) return general;
  const [{ functions }, { listFunctions, renderFunctionHelp }] = await Promise.all([
    workerNamed(worker),
    import("./calls/reference/function-help.ts"),
  ]);
  const options = { program: called, columns: Math.min(process.stdout.columns || helpColumns, helpColumns) };
  if (topic.function === undefined) return general + listFunctions(functions, options);
  const { functionNamed } = await import("./cli/function-named.ts");
  const ofFunction = renderFunctionHelp(functionNamed(topic.function, worker, functions), options);
  return isCall ? ofFunction : `${general}\n${ofFunction}`;
}

async function completions({ shell, worker }: Extract<Command, { name: "completions" }>): Promise<string> {
  const [{ functions }, { clients }, { renderCompletions }] = await Promise.all([
    workerNamed(worker),
    import("./cli/setup/clients.ts"),
    import("./cli/completions/completions.ts"),
  ]);
  return renderCompletions(shell, worker, {
    call: functions.map(({ id }) => id.slice(worker.length + 2)),
    ...(worker === "coder" && { setup: Object.keys(clients) }),
    audit: ["verify"],
    completions: ["bash", "zsh", "fish"],
    help: commandWords[worker].filter((command) => command !== "help"),
  });
}

async function reference({ worker, api }: Extract<Command, { name: "print-schema" }>): Promise<unknown> {
  const [{ functions, triggers }, { renderReference }] = await Promise.all([
    workerNamed(worker),
    import("./calls/reference/json.ts"),
  ]);
  if (api === undefined) return renderReference(functions, undefined, triggers);
  const published = new Set(functions.flatMap(({ publishedIn = [] }) => publishedIn));
  if (published.has(`${worker} ${api}`)) return renderReference(functions, `${worker} ${api}`);
  const known = [...published].map((name) => name.slice(worker.length + 1)).join(", ");
  const references = published.size === 1 ? "the only published reference" : "the published references";
  throw new UsageError(
    `--api is ${JSON.stringify(api)}; ${references} of ${worker} ${published.size === 1 ? "is" : "are"} ${known}`,
  );
}

/** Returns the exit status of an error: its own if a signal has ended the call. */
function statusOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && error.name === "CallInterrupted" ? (error as CallInterrupted).status : 1;
}

/**
 * Returns the sentence of an error: the answer of a failed call, or else the message after the program's
 * name.
 */
function sentence(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return name === "CallFailed" ? message : `${called}: ${message.replaceAll("\n", " ")}`;
}

function print(text: string): void {
  process.stdout.write(text);
}

function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`);
}

void main();
