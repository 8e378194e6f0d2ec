import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { userInfo } from "node:os";
import { about } from "./about.ts";
import type { Command } from "./arguments/arguments.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { readLaunchVariables } from "./config/environment.ts";
import { renderAnswer } from "./contract/answer-text.ts";
import { wordingFor } from "./contract/wording.ts";
import { type Log, originOf } from "./log/log.ts";
import { escapeInvisible } from "./log/quote.ts";
import { stderrLog } from "./process.ts";
import { type CallOutcome, createInvoke } from "./worker/invoke.ts";
import { offeredFunctions, openWorker, workers } from "./workers.ts";

type CallCommand = Extract<Command, { name: "call" }>;

/** Thrown if the answer of the call is an error. The message is that answer. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
}

/** Milliseconds to wait for a call through an engine. Workers have shorter limits. */
const answerMilliseconds = 60_000;
const connectMilliseconds = 5_000;

/**
 * Calls one function and returns the output: the answer as JSON, or as text for a terminal. Throws a
 * `UsageError` or a `CallFailed`.
 */
export async function runCall(command: CallCommand, isTerminal: boolean): Promise<string> {
  const payload = parsePayload(command.payload);
  const log = stderrLog(command.logLevel === "info" ? "error" : command.logLevel);
  const outcome = await (command.url === undefined
    ? callHere(command, payload, log)
    : callThrough(command.url, {
        function: command.function,
        payload,
        namespace: readLaunchVariables(command.environment).namespace,
        log,
      }));
  const isText = isTerminal && !command.isJson;
  if ("error" in outcome)
    throw new CallFailed(isText ? forTerminal(wording.failure(outcome.error)) : outcome.error);
  const { payload: read, notes } = outcome.read ?? { payload, notes: [] };
  const text = isText ? renderText(command.function, read, outcome.answer) : undefined;
  if (text !== undefined && notes.length > 0) return `${text}[read ${notes.join(", ")}]\n`;
  return text ?? `${JSON.stringify(outcome.answer, null, 2)}\n`;
}

/** The wording for the command line, which names functions by their ids. */
const wording = wordingFor((id) => id);

/**
 * Renders an answer as text. Returns `undefined` if it has none: for another worker's function, or an answer
 * of an unknown version.
 */
function renderText(functionId: string, payload: unknown, answer: unknown): string | undefined {
  const functions = Object.values(workers).flatMap((worker) => worker.functions);
  const definition = functions.find(({ id }) => id === functionId);
  try {
    const text = definition && renderAnswer({ definition, payload, answer }, wording);
    return typeof text === "string" ? forTerminal(text.endsWith("\n") ? text : `${text}\n`) : undefined;
  } catch {
    return undefined;
  }
}

/** Escapes characters that control a terminal like JSON does, since files may contain any. */
const forTerminal = (text: string): string =>
  text.replace(/\r(?!\n)|[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/g, escapeInvisible);

type Outcome = ({ readonly answer: unknown } | { readonly error: string }) & Pick<CallOutcome, "read">;

async function callHere(command: CallCommand, payload: unknown, log: Log): Promise<Outcome> {
  const functions = offeredFunctions(command);
  const definition = functions.find(({ id }) => id === command.function);
  if (definition === undefined) {
    throw new UsageError(
      `${command.function} is not a function; they are ${functions.map(({ id }) => id).join(", ")}`,
    );
  }
  const runtime = await openWorker(command, log);
  try {
    return await createInvoke(runtime, log)(definition, payload, { author: { user: userName() } });
  } finally {
    await runtime.close();
  }
}

/** Returns the name of the user who runs this process, or the number of one without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

interface BusCall {
  readonly function: string;
  readonly payload: unknown;
  readonly namespace: string | undefined;
  readonly log: Log;
}

async function callThrough(
  url: string,
  { function: id, payload, namespace, log }: BusCall,
): Promise<Outcome> {
  await reach(url);
  // The SDK takes longer to load than a call in this process takes.
  const { callInNamespace, connect } = await import("./worker/bus.ts");
  const name = `coder-call-${process.pid}`;
  const bus = connect(url, { name, description: about.description, namespace }, log);
  if (namespace !== undefined) callInNamespace(bus, namespace);
  try {
    return { answer: await bus.trigger({ function_id: id, payload, timeoutMs: answerMilliseconds }) };
  } catch (error) {
    return { error: sentenceOf(error as Error) };
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

function parsePayload(argument: string): unknown {
  const text = argument === "-" ? readInput(0, "standard input") : readNamed(argument);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`the payload is not JSON: ${(error as Error).message}`);
  }
}

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
