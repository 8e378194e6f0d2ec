/** The only file that calls the iii SDK. */
import { type IIIClient, registerWorker } from "iii-sdk";
import { ChannelReader, ChannelWriter } from "iii-sdk/channel";
import { type BusAccess, type ChannelRef, RemoteError } from "../contract/definition.ts";
import type { Log } from "../log/log.ts";

export type Bus = IIIClient;

/** Who connects: the name and the description that the engine lists. */
export interface Identity {
  readonly name: string;
  readonly description: string;
  /** Where an engine of 0.23 or later looks for this worker's functions; absent: in its default namespace. */
  readonly namespace?: string | undefined;
}

/** Connects to the engine at `url`; an absent engine is tried for ever, one log line an attempt. */
export function connect(url: string, { name, description, namespace }: Identity, log: Log): Bus {
  silenceSdk(log);
  const bus = registerWorker(url, {
    workerName: name,
    workerDescription: description,
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: usualDelays,
  });
  const sdk = internalsOf(bus);
  // The SDK makes live ends of all channels in a payload (bus §5), also in fields that no function reads, and a payload has
  // room for 250,000. A function that needs one opens it by its reference.
  sdk.resolveChannelValue = (value) => value;
  // The message of an error may hold what the peer sent, or the password in the URL; its code never does.
  sdk.logError = (message, error) => log.warn(`[iii] ${message}`, { code: codeOf(error) });
  if (namespace !== undefined) announceNamespace(sdk, namespace);
  return bus;
}

const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
};

/** First wait and longest wait before the next attempt to connect, in milliseconds. */
const usualDelays = { initialDelayMs: 500, maxDelayMs: 5000 };
const slowDelays = { initialDelayMs: 30_000, maxDelayMs: 30_000 };

type Request = Parameters<IIIClient["trigger"]>[0];

/** What of the SDK's class is private and needed all the same. A test tries each of them against an engine. */
interface SdkInternals {
  trigger(request: Request): Promise<unknown>;
  reconnectionConfig: typeof usualDelays;
  /** The present socket; another one after it has reconnected. */
  readonly ws?: { readonly readyState: number; readonly bufferedAmount: number; terminate(): void };
  resolveChannelValue(value: unknown): unknown;
  logError(message: string, error?: unknown): void;
  setConnectionState(state: string): void;
  sendMessage(type: string, message: object, skipIfClosed?: boolean): void;
  onMessage(message: { readonly length: number }): void;
}

/** The private side of the SDK. Throws where this version of it has another one. */
function internalsOf(bus: Bus): SdkInternals {
  const sdk = bus as unknown as SdkInternals;
  const methods = [
    "trigger",
    "resolveChannelValue",
    "logError",
    "setConnectionState",
    "sendMessage",
    "onMessage",
  ] as const;
  for (const method of methods)
    if (typeof sdk[method] !== "function") throw new Error(`iii-sdk has no ${method} any more`);
  if (typeof sdk.reconnectionConfig?.initialDelayMs !== "number")
    throw new Error("iii-sdk has no reconnectionConfig any more");
  return sdk;
}

const registration = "engine::workers::register";

/** SDK 0.22 knows no namespaces. Engines read that of a connection in the call by which the SDK registers the worker. */
function announceNamespace(sdk: SdkInternals, namespace: string): void {
  const trigger = sdk.trigger.bind(sdk);
  sdk.trigger = (request) => {
    const { function_id: id, payload } = request;
    return trigger(
      id === registration ? { ...request, payload: { ...(payload as object), namespace } } : request,
    );
  };
}

/** Sends all calls of functions over `bus` to `namespace`, except those of the engine's own. */
export function callInNamespace(bus: Bus, namespace: string): void {
  const sdk = internalsOf(bus);
  const send = sdk.sendMessage.bind(sdk);
  sdk.sendMessage = (type, message, skipIfClosed) => {
    const { function_id: id = "" } = message as { readonly function_id?: string };
    const isCall = type === "invokefunction" && !id.startsWith("engine::");
    send(type, isCall ? { ...message, namespace } : message, skipIfClosed);
  };
}

/** What happens to a connection. */
export interface ConnectionEvents {
  /** It stands, and all registrations are on their way to the engine. */
  opened(): void;
  /** It is gone; the SDK tries to connect again. Not called for an attempt that fails. */
  closed(): void;
  /** The engine has another worker of this name, and closes the connection (0.23 and later). */
  refused(): void;
}

/** Reports what happens to the connection of `bus`, for which the SDK has no events. To be called before it stands. */
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
    else onMessage(message);
  };
}

/** Bytes of a frame that may be a refusal. Calls, which may be long, need no parsing. */
const longestRefusal = 4096;

/** Whether the engine refuses the worker's name, which is a frame that SDK 0.22 does not know. */
function isNameConflict(message: { readonly length: number }): boolean {
  if (message.length > longestRefusal) return false;
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

/** Whether the next attempts to connect are 30 s apart, so that a worker that is refused makes no storm. */
export function slowDown(bus: Bus, isSlow: boolean): void {
  Object.assign(internalsOf(bus).reconnectionConfig, isSlow ? slowDelays : usualDelays);
}

/**
 * The SDK writes to stdout (bus §4), and prints whole error objects on stderr. Both become lines of the log. File
 * contents must not leave in traces either, so their capture is off unless the operator has set it.
 */
function silenceSdk(log: Log): void {
  process.env["III_DISABLE_TRACE_PAYLOADS"] ??= "1";
  const line = (parts: readonly unknown[]): string =>
    parts.flatMap((part) => (typeof part === "string" ? part.split("\n", 1) : [])).join(" ");
  const quiet = (...parts: unknown[]) => log.debug(line(parts));
  const loud = (...parts: unknown[]) => log.warn(line(parts));
  Object.assign(console, { log: quiet, info: quiet, debug: quiet, warn: loud, error: loud });
}

/** The `readyState` of a socket that is open (WHATWG WebSockets). */
const open = 1;

/** Bytes that the connection of `bus` has not sent; undefined while there is none, and answers pile up in the SDK. */
export function unsentBytes(bus: Bus): number | undefined {
  const { ws } = internalsOf(bus);
  return ws?.readyState === open ? ws.bufferedAmount : undefined;
}

/** Ends the present connection of `bus`, which then makes another. */
export function cutConnection(bus: Bus): void {
  internalsOf(bus).ws?.terminate();
}

/** `bus`, which is connected to the engine at `url`, for the functions of a worker. */
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
    // The SDK declares it private, and has no other way.
    const connect = () => (writer as unknown as { ensureConnected(): void }).ensureConnected();
    return Object.assign(writer, { connect });
  },
});

/** Messages of 64 KiB that a channel holds, and how long making one may take (shell §2.4). */
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
    // The SDK puts the code in front of the message.
    throw new RemoteError(code, message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message);
  }
}
