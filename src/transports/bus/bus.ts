/** The only file that calls the iii SDK. */

import { type IIIClient, registerWorker } from "iii-sdk";
import { ChannelReader, ChannelWriter } from "iii-sdk/channel";
import { type Log, originOf } from "../../base/log/log.ts";
import { skipSlice } from "../../base/scheduling/time-slice.ts";
import { type BusAccess, type ChannelRef, RemoteError } from "../../calls/contract/bus-access.ts";
import type { TraceParent } from "../../calls/contract/origin.ts";
import { WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
import type { EngineTelemetry } from "../../serve/telemetry/telemetry.ts";
import { EncodedAnswer } from "./encoded-answer.ts";
import { type EngineMessage, LargeMessages } from "./large-messages.ts";

export type Bus = IIIClient;

/** The name and the description of this worker in the engine's list. */
export interface Identity {
  readonly name: string;
  readonly description: string;
  /** The namespace of this worker's functions in an engine of 0.23 or later; if absent, the default one. */
  readonly namespace?: string | undefined;
}

export interface BusOptions {
  /** The identity for spans and metrics. Without it, the SDK's OpenTelemetry is off. */
  readonly telemetry?: EngineTelemetry | undefined;
  /** Returns the maximum values, keys and punctuation marks of a large call. Default: without limit. */
  readonly maxTokens?: (() => number) | undefined;
}

/**
 * Connects to the engine at `url`. Retries an absent engine without end, with a log line for each attempt.
 */
export function connect(
  url: string,
  { name, description, namespace }: Identity,
  log: Log,
  { telemetry, maxTokens = () => Number.POSITIVE_INFINITY }: BusOptions = {},
): Bus {
  silenceSdk(log);
  const bus = registerWorker(url, {
    workerName: name,
    workerDescription: description,
    otel:
      telemetry === undefined
        ? { enabled: false }
        : { enabled: true, fetchInstrumentationEnabled: false, ...telemetry },
    enableMetricsReporting: false,
    reconnectionConfig: defaultDelays,
  });
  const sdk = internalsOf(bus);
  // The SDK opens all channels in a payload (bus §5), including those in fields that no function reads, and a
  // payload has room for 250,000. A function that needs one opens it by its reference.
  sdk.resolveChannelValue = (value) => value;
  // The message of an error may contain data from the peer, or the password in the URL; its code never does.
  let isAbsent = false;
  sdk.logError = (message, error) => {
    const code = codeOf(error);
    if (code !== "ECONNREFUSED") {
      log.warn(`[iii] ${message}`, { code });
      return;
    }
    // The SDK retries without end, and one line says so.
    if (!isAbsent) log.warn("no engine answers", { url: originOf(url), code, advice: absentAdvice });
    isAbsent = true;
  };
  const setConnectionState = sdk.setConnectionState.bind(sdk);
  sdk.setConnectionState = (state) => {
    if (state === "connected") isAbsent = false;
    setConnectionState(state);
  };
  receiveInSlices(bus, maxTokens);
  sendPrepared(sdk);
  sendTargets(sdk);
  if (namespace !== undefined) announceNamespace(sdk, namespace);
  return bus;
}

const absentAdvice =
  "start the engine, name another with --url or III_URL, or try without one: --engine embedded. Attempts continue";

const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
};

/**
 * Sends answers that are written or encoded as they are. The SDK would require a written one to be parsed,
 * and render it again. The frame of an encoded one is binary, and engines take it like a text (bus §1).
 */
function sendPrepared(sdk: SdkInternals): void {
  const send = sdk.sendMessage.bind(sdk);
  sdk.sendMessage = (type, message, skipIfClosed) => {
    skipSlice();
    const { result, ...others } = message as { readonly result?: unknown };
    const head = () => `${JSON.stringify({ type, ...others }).slice(0, -1)},"result":`;
    if (type !== "invocationresult" || !sdk.isOpen()) send(type, message, skipIfClosed);
    else if (result instanceof WrittenAnswer) sdk.sendMessageRaw(`${head()}${result.text}}`);
    else if (result instanceof EncodedAnswer) sdk.sendMessageRaw(result.frame(head()));
    else send(type, message, skipIfClosed);
  };
}

/** The receivers of the large messages of each connection. */
const largeMessages = new WeakMap<Bus, LargeMessages>();

/** The fields of a call that the SDK passes on. */
const callFields = ["invocation_id", "function_id", "data", "metadata", "traceparent", "baggage"] as const;

/**
 * Parses large messages in time slices. A small call may overtake a large one, as in the production engine.
 */
function receiveInSlices(bus: Bus, maxTokens: () => number): void {
  const sdk = internalsOf(bus);
  const onMessage = sdk.onMessage.bind(sdk);
  const large = new LargeMessages(maxTokens, (frame) => passOn(sdk, frame));
  largeMessages.set(bus, large);
  sdk.onMessage = (message) => {
    if (large.takes(message)) large.receive(message);
    else {
      skipSlice();
      onMessage(message);
    }
  };
}

/**
 * Receives a large message that comes from an engine in this process and not over the connection, if
 * `workerId` is the id that the engine has given to `bus`. Returns whether it is.
 */
export function takeLarge(bus: Bus, workerId: string, text: string): boolean {
  if (internalsOf(bus).workerId !== workerId) return false;
  largeMessages.get(bus)?.receive(text);
  return true;
}

/** Passes a large message to the SDK. Drops it if messages of its type are never large. */
function passOn(sdk: SdkInternals, { type, ...frame }: EngineMessage): void {
  const { invocation_id, result, error } = frame;
  if (type === "invokefunction") void sdk.onInvokeFunction(...callFields.map((field) => frame[field]));
  else if (type === "invocationresult") sdk.onInvocationResult(invocation_id, result, error);
  else if (type === "registertrigger") void sdk.onRegisterTrigger(frame);
}

/** The first and the maximum milliseconds before the next attempt to connect. */
const defaultDelays = { initialDelayMs: 500, maxDelayMs: 5000 };
const slowDelays = { initialDelayMs: 30_000, maxDelayMs: 30_000 };

type Request = Parameters<IIIClient["trigger"]>[0];

/** A handler in the SDK's form. If it throws, the call fails with that error. */
type Handler = (
  payload: unknown,
  metadata: unknown,
  traceparent?: string,
  baggage?: string,
) => Promise<unknown>;

/**
 * The private members of the SDK's class that this file needs. A test tries each of them against an engine.
 */
interface SdkInternals {
  /** The registered functions, by their ids. */
  readonly functions: ReadonlyMap<string, { handler?: Handler }>;
  trigger(request: Request): Promise<unknown>;
  reconnectionConfig: typeof defaultDelays;
  /** The id that the engine has given to the current connection. */
  readonly workerId?: string;
  /** The current socket, which a reconnect replaces. */
  readonly ws?: { readonly readyState: number; readonly bufferedAmount: number; terminate(): void };
  resolveChannelValue(value: unknown): unknown;
  logError(message: string, error?: unknown): void;
  setConnectionState(state: string): void;
  sendMessage(type: string, message: object, skipIfClosed?: boolean): void;
  /** Sends the data, or drops it if it cannot. */
  sendMessageRaw(data: string | Buffer): void;
  isOpen(): boolean;
  onMessage(message: { readonly length: number }): void;
  onInvokeFunction(...fields: unknown[]): Promise<void>;
  onInvocationResult(invocationId: unknown, result: unknown, error: unknown): void;
  onRegisterTrigger(message: { readonly namespace?: unknown }): Promise<void>;
}

/** Returns the private members of the SDK. Throws if this version of it lacks one. */
function internalsOf(bus: Bus): SdkInternals {
  const sdk = bus as unknown as SdkInternals;
  const methods = [
    "trigger",
    "resolveChannelValue",
    "logError",
    "setConnectionState",
    "sendMessage",
    "sendMessageRaw",
    "isOpen",
    "onMessage",
    "onInvokeFunction",
    "onInvocationResult",
    "onRegisterTrigger",
  ] as const;
  for (const method of methods)
    if (typeof sdk[method] !== "function") throw new Error(`iii-sdk has no ${method} any more`);
  if (typeof sdk.reconnectionConfig?.initialDelayMs !== "number")
    throw new Error("iii-sdk has no reconnectionConfig any more");
  return sdk;
}

type FunctionDetails = Parameters<IIIClient["registerFunction"]>[2];

/**
 * Registers a function whose handler receives the trace of the call. It replaces the SDK's own handler, which
 * keeps the trace to itself, and records payloads and error messages in a span (bus §4).
 */
export function register(
  bus: Bus,
  id: string,
  handle: (payload: unknown, trace: TraceParent) => Promise<unknown>,
  details: FunctionDetails,
): { unregister(): void } {
  const ref = bus.registerFunction(id, (payload: unknown) => handle(payload, {}), details);
  const registered = internalsOf(bus).functions.get(id);
  if (registered?.handler === undefined) throw new Error("iii-sdk keeps handlers elsewhere");
  registered.handler = (payload, _, traceparent, baggage) => handle(payload, { traceparent, baggage });
  return ref;
}

const registration = "engine::workers::register";

/**
 * Adds the namespace to the call that registers the worker, where engines read it. SDK 0.22 has no
 * namespaces.
 */
function announceNamespace(sdk: SdkInternals, namespace: string): void {
  const trigger = sdk.trigger.bind(sdk);
  sdk.trigger = (request) => {
    const { function_id: id, payload } = request;
    return trigger(
      id === registration ? { ...request, payload: { ...(payload as object), namespace } } : request,
    );
  };
}

/** Sends all function calls over `bus` to `namespace`, except calls of the engine's own functions. */
export function callInNamespace(bus: Bus, namespace: string): void {
  const sdk = internalsOf(bus);
  const send = sdk.sendMessage.bind(sdk);
  sdk.sendMessage = (type, message, skipIfClosed) => {
    const { function_id: id = "" } = message as { readonly function_id?: string };
    const isCall = type === "invokefunction" && !id.startsWith("engine::");
    send(type, isCall ? { ...message, namespace } : message, skipIfClosed);
  };
}

/** The namespace of the call that `callIn` is making. The SDK sends a call before `trigger` returns. */
let target: string | undefined;

/** Adds the namespace to calls that `callIn` makes. */
function sendTargets(sdk: SdkInternals): void {
  const send = sdk.sendMessage.bind(sdk);
  sdk.sendMessage = (type, message, skipIfClosed) => {
    const isCall = type === "invokefunction" && target !== undefined;
    send(type, isCall ? { ...message, namespace: target } : message, skipIfClosed);
  };
}

/** Calls a function in `namespace`, or in the default one if that is `undefined`. */
export function callIn(bus: Bus, namespace: string | undefined, request: Request): Promise<unknown> {
  target = namespace;
  try {
    return bus.trigger(request);
  } finally {
    target = undefined;
  }
}

/** A trigger in the engine's form. */
export interface RegisteredTrigger {
  readonly id: string;
  readonly function_id: string;
  readonly config?: unknown;
  readonly metadata?: Record<string, unknown>;
  /** The namespace of the function, in an engine of 0.23 or later; if absent, the default one. */
  readonly namespace?: string | undefined;
}

/** The handlers of a trigger type. `add` may be called again with a trigger that it knows. */
interface TriggerHandlers {
  add(trigger: RegisteredTrigger): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Registers a trigger type. SDK 0.22 drops the namespaces of its triggers. */
export function registerTriggerType(
  bus: Bus,
  type: { readonly id: string; readonly description: string },
  { add, remove }: TriggerHandlers,
): void {
  const sdk = internalsOf(bus);
  const receive = sdk.onRegisterTrigger.bind(sdk);
  // The SDK calls the handler before its method returns.
  let namespace: string | undefined;
  sdk.onRegisterTrigger = (message) => {
    namespace = typeof message.namespace === "string" ? message.namespace : undefined;
    return receive(message);
  };
  bus.registerTriggerType(type, {
    registerTrigger: (trigger) => add(namespace === undefined ? trigger : { ...trigger, namespace }),
    unregisterTrigger: ({ id }) => remove(id),
  });
}

/** The events of a connection. */
export interface ConnectionEvents {
  /** Called when it is open, and all registrations are on their way to the engine. */
  opened(): void;
  /** Called when it is closed, and the SDK reconnects. Not called for an attempt that fails. */
  closed(): void;
  /** Called when the engine has another worker of this name, and closes the connection (0.23 and later). */
  refused(): void;
}

/**
 * Reports the events of `bus`, a service that the SDK does not offer. Call it before the connection opens.
 */
export function watch(bus: Bus, events: ConnectionEvents): void {
  const sdk = internalsOf(bus);
  const trigger = sdk.trigger.bind(sdk);
  let isOpen = false;
  sdk.trigger = (request) => {
    const answer = trigger(request);
    if (request.function_id === registration) {
      isOpen = true;
      events.opened();
    }
    return answer;
  };
  const setConnectionState = sdk.setConnectionState.bind(sdk);
  sdk.setConnectionState = (state) => {
    setConnectionState(state);
    if (state !== "disconnected" || !isOpen) return;
    isOpen = false;
    events.closed();
  };
  const onMessage = sdk.onMessage.bind(sdk);
  sdk.onMessage = (message) => {
    if (isNameConflict(message)) events.refused();
    else {
      skipSlice();
      onMessage(message);
    }
  };
}

/** Maximum bytes of a frame that may be a refusal. Longer ones are not parsed. */
const maxRefusalBytes = 4096;

/** Returns whether a frame refuses the worker's name. SDK 0.22 does not know that frame. */
function isNameConflict(message: { readonly length: number }): boolean {
  if (message.length > maxRefusalBytes) return false;
  const text = String(message);
  // A caller may write the word into a payload.
  if (!text.includes("registrationrejected")) return false;
  try {
    const { type, code } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return type === "registrationrejected" && code === "WORKER_NAMESPACE_CONFLICT";
  } catch {
    return false;
  }
}

/** Sets the interval of attempts to connect to 30 s, or back. A refused worker must not flood the engine. */
export function slowDown(bus: Bus, isSlow: boolean): void {
  Object.assign(internalsOf(bus).reconnectionConfig, isSlow ? slowDelays : defaultDelays);
}

/**
 * Redirects to the log everything that the SDK writes to stdout (bus §4), and prints as whole error objects
 * on stderr.
 */
function silenceSdk(log: Log): void {
  const line = ([first, ...more]: readonly unknown[]): string => {
    const isOfTelemetry = typeof first === "string" && first.startsWith("[OTel]");
    // The rest may contain the password in the URL, or data from the peer.
    if (isOfTelemetry) return first.split(/:| at |\n/, 1)[0] as string;
    return [first, ...more]
      .flatMap((part) => (typeof part === "string" ? part.split("\n", 1) : []))
      .join(" ");
  };
  const quiet = (...parts: unknown[]) => log.debug(line(parts));
  const loud = (...parts: unknown[]) => log.warn(line(parts));
  Object.assign(console, { log: quiet, info: quiet, debug: quiet, warn: loud, error: loud });
}

/** The `readyState` of a socket that is open (WHATWG WebSockets). */
const open = 1;

/**
 * Returns the bytes that the connection of `bus` has not sent, or `undefined` without a connection, when the
 * SDK queues answers.
 */
export function unsentBytes(bus: Bus): number | undefined {
  const { ws } = internalsOf(bus);
  return ws?.readyState === open ? ws.bufferedAmount : undefined;
}

/**
 * Resolves when the engine has handled what was sent before, and has sent each call that it had found a
 * handler for; or after `milliseconds`, or at once without a connection. It sends two queries, because an
 * engine that handles calls concurrently may send such a call right after its first answer. Then passes on
 * the calls that are being parsed.
 */
export async function reachEngine(bus: Bus, milliseconds: number): Promise<void> {
  const ends = performance.now() + milliseconds;
  const request = { function_id: "engine::functions::info", payload: { function_ids: ["none"] } };
  for (let query = 0; query < 2; query += 1) {
    const timeoutMs = Math.ceil(ends - performance.now());
    if (timeoutMs <= 0 || unsentBytes(bus) === undefined) return;
    await bus.trigger({ ...request, timeoutMs }).catch(() => {});
  }
  await largeMessages.get(bus)?.settled();
}

/** Ends the current connection of `bus`, which then reconnects. */
export function cutConnection(bus: Bus): void {
  internalsOf(bus).ws?.terminate();
}

/** Returns `bus`, which is connected to the engine at `url`, in the form for the functions of a worker. */
export const accessTo = (bus: Bus, url: string): BusAccess => ({
  call: (functionId, payload, milliseconds) => call(bus, functionId, { payload, milliseconds }),
  async createChannel() {
    const payload = { buffer_size: channelMessages };
    const created = await call(bus, "engine::channels::create", {
      payload,
      milliseconds: channelMilliseconds,
    });
    return created as { reader: ChannelRef; writer: ChannelRef };
  },
  openSource: (channel) => new ChannelReader(url, channel),
  openSink(channel) {
    const writer = new ChannelWriter(url, channel);
    // The SDK offers no public method for this.
    const connect = () => (writer as unknown as { ensureConnected(): void }).ensureConnected();
    return Object.assign(writer, { connect });
  },
});

/**
 * The number of messages of 64 KiB that a channel holds, and the milliseconds for the engine to make one
 * (shell §2.4).
 */
const channelMessages = 64;
const channelMilliseconds = 30_000;

interface Call {
  readonly payload: unknown;
  readonly milliseconds: number;
}

async function call(bus: Bus, functionId: string, { payload, milliseconds }: Call): Promise<unknown> {
  try {
    return await bus.trigger({ function_id: functionId, payload, timeoutMs: milliseconds });
  } catch (error) {
    const { code = "UNKNOWN", message } = error as { readonly code?: string; readonly message: string };
    // The SDK prefixes the message with the code.
    throw new RemoteError(code, message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message);
  }
}
