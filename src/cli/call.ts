import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { about } from "../base/about.ts";
import { localUser } from "../base/local-user.ts";
import { type Log, originOf } from "../base/log/log.ts";
import { escapeInvisible } from "../base/log/quote.ts";
import { parseJson, UnreadableJson } from "../base/scheduling/parse-json.ts";
import { maxSimilar } from "../base/similar-name.ts";
import { renderAnswer } from "../calls/contract/answer-text.ts";
import type { FunctionDefinition, Runtime } from "../calls/contract/definition.ts";
import { hasFailedEntry } from "../calls/contract/failed-entry.ts";
import type { Origin } from "../calls/contract/origin.ts";
import { wordingFor } from "../calls/contract/wording.ts";
import { type CallOutcome, createInvoke, readsUnknownFields } from "../calls/invoke.ts";
import { RunningCalls } from "../calls/running-calls.ts";
import type { Command } from "../config/arguments/arguments.ts";
import { UsageError } from "../config/arguments/usage-error.ts";
import { readLaunchVariables } from "../config/environment.ts";
import { type Interruption, onInterruption, stderrLog } from "../serve/lifecycle.ts";
import { offeredFunctions, openWorker, workers } from "../serve/workers.ts";
import { functionNamed } from "./function-named.ts";
import { renderOtherJournals } from "./other-journals.ts";
import { nameUndoCommands } from "./terminal/undo-commands.ts";

type CallCommand = Extract<Command, { name: "call" }>;

/** Thrown if the answer of the call is an error. The message is that answer. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
}

/** Thrown if a signal has ended the call. The message names it, and says what was done. */
export class CallInterrupted extends Error {
  override readonly name = "CallInterrupted";
  /** The exit status of the program. */
  readonly status: number;

  constructor({ signal, status }: Interruption, outcome: string) {
    super(`${signal}: ${outcome}`);
    this.status = status;
  }
}

/** Milliseconds to wait for a call through an engine. Workers have shorter limits. */
const answerMilliseconds = 60_000;
const connectMilliseconds = 5_000;

/** The output of a call, and the exit status of the program. */
export interface PrintedCall {
  /** The answer as JSON, or as text for a terminal. */
  readonly text: string;
  readonly status: number;
}

/** Calls one function. Throws a `UsageError` or a `CallFailed`. */
export async function runCall(command: CallCommand, isTerminal: boolean): Promise<PrintedCall> {
  const payload = parsePayload(command);
  const log = stderrLog(levelOf(command));
  const isText = isTerminal && !command.isJson;
  // Drawing is loaded for people only.
  const terminal = isText ? await import("./terminal/draw.ts") : undefined;
  const { outcome, unknownFields, interruption } = await callShown(command, payload, {
    log,
    isShown: isText,
  });
  if (interruption !== undefined && "error" in outcome)
    throw new CallInterrupted(interruption, forTerminal(forUser(wording.failure(outcome.error))));
  warnOfUnknown(command, payload, unknownFields);
  if ("error" in outcome) {
    warnOfMissing(command, payload, unknownFields);
    throw new CallFailed(
      terminal?.drawError(forTerminal(forUser(wording.failure(outcome.error)))) ?? outcome.error,
    );
  }
  const { payload: read, notes } = outcome.read ?? { payload, notes: [] };
  const { answer } = outcome;
  const status = interruption?.status ?? statusOf(command.function, answer);
  if (interruption !== undefined)
    process.stderr.write(`coder: ${interruption.signal}: the answer says what was done\n`);
  if (!isText && unknownFields !== "elsewhere" && isDryRun(command, read, answer))
    process.stderr.write("coder: this was a dry run, so nothing was changed\n");
  const drawn = terminal?.draw({
    id: command.function,
    payload: read,
    answer,
    text: await renderText(command.function, read, answer),
    toVisible: forTerminal,
    now: Date.now(),
  });
  if (drawn !== undefined && notes.length > 0)
    return { status, text: `${drawn}[read ${notes.join(", ")}]\n` };
  return { status, text: drawn ?? `${JSON.stringify(answer, null, 2)}\n` };
}

/** Returns the level of the log. A call that reports on the configuration shows the warnings about it. */
function levelOf({ logLevel, function: id }: CallCommand): CallCommand["logLevel"] {
  if (logLevel !== "info") return logLevel;
  return id === "info" || id === "coder::info" ? "warn" : "error";
}

interface ShownOptions {
  readonly log: Log;
  /** Whether a person sees the progress of the call. */
  readonly isShown: boolean;
}

async function callShown(
  command: CallCommand,
  payload: unknown,
  { log, isShown }: ShownOptions,
): Promise<Called> {
  using progress = isShown
    ? (await import("./terminal/progress.ts")).showProgress(command.function, command.environment)
    : undefined;
  const onFiles = progress?.addFiles;
  if (command.url === undefined) return await callHere(command, payload, { log, onFiles });
  const { namespace } = readLaunchVariables(command.environment);
  return await callThrough(command.url, { function: command.function, payload, namespace, log });
}

/**
 * Warns of fields that the function does not have, unless the answer mentions them: the profile `contract`
 * ignores them, so that `dryrun` changes files.
 */
function warnOfUnknown({ function: id }: CallCommand, payload: unknown, fate: UnknownFields): void {
  const definition = definitionOf(id);
  if (fate === "answered" || definition === undefined || !isObject(payload)) return;
  const ignored =
    fate === "ignored" ? ", so it was ignored" : ", which a worker in the profile contract ignores";
  const known = Object.keys(definition.request["properties"]);
  for (const name of Object.keys(payload)) {
    if (known.includes(name) || name.startsWith("_") || definition.hasFlatEnvelope) continue;
    const meant = maxSimilar(name, known);
    const question =
      meant === undefined ? `; its fields are ${known.join(", ")}` : `; did you mean ${meant}?`;
    process.stderr.write(`coder: ${id} has no field ${JSON.stringify(name)}${ignored}${question}\n`);
  }
}

/** Names the fields that a failed call lacks, and the help that shows them. A worker elsewhere may differ. */
function warnOfMissing({ function: id }: CallCommand, payload: unknown, fate: UnknownFields): void {
  const definition = definitionOf(id);
  if (fate !== "ignored" || definition === undefined || !isObject(payload)) return;
  const fields: Readonly<Record<string, { readonly default?: unknown }>> = definition.request["properties"];
  const { required = [] } = definition.request as { readonly required?: readonly string[] };
  const missing = required.filter(
    (name) => fields[name]?.default === undefined && !Object.hasOwn(payload, name),
  );
  if (missing.length > 0)
    process.stderr.write(`coder: ${id} needs ${missing.join(", ")}; see coder call ${id} --help\n`);
}

/** Returns whether a call only checks, and its answer does not say so, as that of a transaction does. */
const isDryRun = ({ function: id }: CallCommand, payload: unknown, answer: unknown): boolean =>
  isObject(payload) &&
  payload["dry_run"] === true &&
  !(isObject(answer) && Object.hasOwn(answer, "committed")) &&
  Object.hasOwn(definitionOf(id)?.request["properties"] ?? {}, "dry_run");

const isObject = (payload: unknown): payload is Readonly<Record<string, unknown>> =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload);

const definitionOf = (id: string): FunctionDefinition | undefined =>
  Object.values(workers)
    .flatMap((worker) => worker.functions)
    .find((definition) => definition.id === id);

/**
 * Returns the exit status of a call that was answered: 3 if a part of it failed, 4 if the command that it ran
 * did. A call without an answer ends with 1, and a wrong command line with 2.
 */
function statusOf(id: string, answer: unknown): 0 | 3 | 4 {
  if (typeof answer !== "object" || answer === null) return 0;
  if (id === "shell::exec") return hasRunWell(answer) ? 0 : 4;
  const { conflicts } = answer as { readonly conflicts?: readonly unknown[] };
  return hasFailedEntry(answer) || (id === "coder::undo" && (conflicts?.length ?? 0) > 0) ? 3 : 0;
}

interface CommandAnswer {
  readonly exit_code?: unknown;
  readonly timed_out?: unknown;
}

/** Returns whether a command ended by itself, and with 0. */
const hasRunWell = ({ exit_code: code, timed_out: isLate }: CommandAnswer): boolean =>
  code === 0 && isLate !== true;

/** The wording for the command line, which names functions by their ids. */
const wording = wordingFor((id) => id);

/**
 * Renders an answer as text. Returns `undefined` if it has none: for another worker's function, or an answer
 * of an unknown version.
 */
async function renderText(
  functionId: string,
  payload: unknown,
  answer: unknown,
): Promise<string | undefined> {
  const definition = definitionOf(functionId);
  try {
    const text = definition && (await renderAnswer({ definition, payload, answer }, wording));
    return typeof text === "string" ? forTerminal(text.endsWith("\n") ? text : `${text}\n`) : undefined;
  } catch {
    return undefined;
  }
}

/** Addresses the reader of advice that a model should pass on to its user, or send as a field. */
const forUser = (text: string): string =>
  nameUndoCommands(text)
    .replaceAll(/\b(A|a)sk the user to (\w)/g, (_, a: string, letter: string) =>
      a === "A" ? letter.toUpperCase() : letter,
    )
    .replace(/\bSend `seq` (\d+)(?= to undo that one\.)/, "Run `coder undo $1` with the same options")
    .replaceAll("coder::checkpoints", "`coder checkpoints`");

/** Escapes characters that control a terminal like JSON does, since files may contain any. */
const forTerminal = (text: string): string =>
  text.replace(/\r(?!\n)|[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/g, escapeInvisible);

/**
 * The fate of fields that the function does not have: the answer says it, they were ignored, or
 * only the worker elsewhere knows.
 */
type UnknownFields = "answered" | "ignored" | "elsewhere";

interface Called {
  readonly outcome: ({ readonly answer: unknown } | { readonly error: string }) & Pick<CallOutcome, "read">;
  readonly unknownFields: UnknownFields;
  /** The signal that was to end the call. */
  readonly interruption?: Interruption | undefined;
}

async function callHere(
  command: CallCommand,
  payload: unknown,
  { log, onFiles }: Pick<Origin, "onFiles"> & { readonly log: Log },
): Promise<Called> {
  const { worker } = command;
  const definition = functionNamed(command.function, worker, workers[worker].functions);
  if (!offeredFunctions(command).includes(definition))
    throw new UsageError(
      `${definition.id} can change something, and --read-only offers only functions that cannot; leave it out`,
    );
  if (definition.id === "coder::commit")
    throw new UsageError(
      "coder::commit carries out a plan of a running worker, and this process has none; send the call without dry_run, or both calls to a running worker with --url",
    );
  const isElsewhere = typeof payload === "object" && payload !== null && "target" in payload;
  if (definition.id === "shell::exec_bg" && !isElsewhere)
    throw new UsageError(
      "shell::exec_bg starts a job that would end with this process; call shell::exec, or a running worker with --url",
    );
  const running = new RunningCalls();
  let interruption: Interruption | undefined;
  using _interruptions = onInterruption((one) => {
    interruption = one;
    void endInterrupted(running, one);
  });
  // The files of a service have to belong to its user, and not to a person who checks its configuration.
  const runtime = await openWorker({ ...command, onlyReads: definition.effect === "reads" }, log);
  try {
    await finishRecovery(runtime);
    const invoke = createInvoke(runtime, log, { running });
    const outcome = await invoke(definition, payload, { author: localUser(), onFiles });
    if (isEmptyJournal(definition.id, payload, outcome)) process.stderr.write(`coder: ${elsewhere}\n`);
    if (isEndOfJournal(definition.id, outcome)) {
      const hasOwnRoots = command.folders === undefined && runtime.serves.roots !== undefined;
      process.stderr.write(
        forTerminal(
          renderOtherJournals(
            runtime.findOtherJournals?.() ?? [],
            hasOwnRoots ? undefined : command.configFile,
          ),
        ),
      );
    }
    const unknownFields = readsUnknownFields(runtime.requestRules) ? "answered" : "ignored";
    return { outcome, unknownFields, interruption };
  } finally {
    await runtime.close();
  }
}

/** Ends the call, and the process if the call does not end. */
async function endInterrupted(running: RunningCalls, { signal, status }: Interruption): Promise<void> {
  await running.end();
  if (running.size === 0) return;
  process.stderr.write(
    `coder: ${signal}: the call did not end in time; the next command in this folder takes back what it has begun\n`,
  );
  process.exit(status);
}

/** Says that a transaction of a killed process was finished, and removes what else such processes left. */
async function finishRecovery({ recovered = [], sweep }: Runtime): Promise<void> {
  for (const sentence of recovered) process.stderr.write(`coder: ${sentence}\n`);
  if (recovered.length > 0) await sweep?.().catch(() => {});
}

/** The journal of a service is often not that of the person at the terminal. */
const elsewhere =
  "this journal is empty; a server that runs as another user, or with another XDG_STATE_HOME or journal.dir, keeps its own: to see that, run this as its user, with its XDG_STATE_HOME and its --config";

function isEmptyJournal(id: string, payload: unknown, outcome: CallOutcome): boolean {
  if (id !== "coder::checkpoints" || "error" in outcome || !isObject(payload)) return false;
  const { checkpoints } = outcome.answer as { readonly checkpoints?: readonly unknown[] };
  const isFiltered = ["before_seq", "path", "by", "seq"].some((field) => Object.hasOwn(payload, field));
  return checkpoints?.length === 0 && !isFiltered;
}

/** Returns whether a call has found nothing more in the journal, so that another may have what is missing. */
function isEndOfJournal(id: string, outcome: CallOutcome): boolean {
  if ("error" in outcome) return id === "coder::checkpoints" || id === "coder::undo";
  const { answer } = outcome as { readonly answer: { readonly next_before_seq?: number } };
  return id === "coder::checkpoints" && answer.next_before_seq === undefined;
}

interface BusCall {
  readonly function: string;
  readonly payload: unknown;
  readonly namespace: string | undefined;
  readonly log: Log;
}

async function callThrough(url: string, { function: id, payload, namespace, log }: BusCall): Promise<Called> {
  await reach(url);
  // The SDK takes longer to load than a call in this process takes.
  const { callInNamespace, connect } = await import("../transports/bus/bus.ts");
  const name = `coder-call-${process.pid}`;
  const bus = connect(url, { name, description: about.description, namespace }, log);
  if (namespace !== undefined) callInNamespace(bus, namespace);
  try {
    const answer = await bus.trigger({ function_id: id, payload, timeoutMs: answerMilliseconds });
    return { outcome: { answer }, unknownFields: "elsewhere" };
  } catch (error) {
    return { outcome: { error: sentenceOf(error as Error) }, unknownFields: "elsewhere" };
  } finally {
    await bus.shutdown();
  }
}

/**
 * Tries to connect first, because the SDK would retry until the call times out, even if the engine is absent
 * or refuses.
 */
function reach(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, host, port, pathname, protocol } = new URL(url);
    const isPlain = protocol === "ws:";
    const socket = createConnection({ host: hostname, port: Number(port || (isPlain ? 80 : 443)) });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    let late = () => reject(absent(url));
    socket.setTimeout(connectMilliseconds, () => end(() => late()));
    socket.once("connect", () => {
      // A busy engine answers later.
      late = resolve;
      if (isPlain) socket.write(handshake(host, pathname));
      else end(resolve);
    });
    socket.once("data", (answer) =>
      end(() => (/^HTTP\/1\.1 403 /.test(answer.toString("latin1")) ? reject(forbidden(url)) : resolve())),
    );
    socket.once("error", () => end(() => reject(absent(url))));
  });
}

/** Returns the opening handshake of a WebSocket client (RFC 6455, section 4.1). */
const handshake = (host: string, path: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "\r\n",
  ].join("\r\n");

const absent = (url: string) =>
  new CallFailed(
    `No engine answers at ${originOf(url)}; start one, or leave --url and III_URL out to run the function in this process.`,
  );

const forbidden = (url: string) =>
  new CallFailed(
    `The engine at ${originOf(url)} refuses this connection; an engine that another user started needs its token in the address: III_URL=${originOf(url)}/TOKEN.`,
  );

/** Returns the worker's own error string, without the prefix of the bus (bus §2). */
function sentenceOf(error: Error): string {
  return /handler error: (.*)$/s.exec(error.message)?.[1] ?? error.message;
}

function parsePayload({ payload, function: id }: CallCommand): unknown {
  const text = payload === "-" ? readInput(0, "standard input") : readNamed(payload);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof UnreadableJson) throw new UsageError(`the payload ${error.fault}; ${error.advice}`);
    throw new UsageError(
      `the payload is not JSON: ${(error as Error).message.slice(0, 200)}; ${adviceFor(payload, definitionOf(id))}`,
    );
  }
}

/** Returns the payload that would be valid, in a sentence. A bare word most likely is a path. */
function adviceFor(payload: string, definition: FunctionDefinition | undefined): string {
  const help = `see coder call ${definition?.id ?? "FUNCTION"} --help`;
  if (payload === "-" || payload.startsWith("@") || definition === undefined) return help;
  if (/^\s*[{[]/.test(payload))
    return `quote names and texts with ", and all of it with ', such as ${quoted(definition.examples[0]?.request)}; ${help}`;
  const shown = definition.examples.flatMap(({ request }) => Object.entries(request));
  const [field] = shown.find(([, value]) => typeof value === "string") ?? [];
  const meant = field === undefined ? definition.examples[0]?.request : { [field]: payload };
  return `did you mean ${quoted(meant)}? See ${help.slice("see ".length)}`;
}

/** Returns JSON as a word of a POSIX shell. */
const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;

function readNamed(argument: string): string {
  return argument.startsWith("@") ? readInput(argument.slice(1), argument.slice(1)) : argument;
}

function readInput(file: number | string, name: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(
      `the payload cannot be read from ${name} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}
