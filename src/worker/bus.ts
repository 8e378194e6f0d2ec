/** The one door to the iii SDK. Sections are those of the bus specification. */
import { type IIIClient, registerWorker } from "iii-sdk";
import { ChannelReader, ChannelWriter } from "iii-sdk/channel";
import { type BusAccess, type ChannelRef, RemoteError } from "./define.ts";
import type { Log } from "./log.ts";

export type Bus = IIIClient;

/** Who connects: the name and the description that the engine lists. */
export interface Identity {
  readonly name: string;
  readonly description: string;
}

/** Connects to the engine at `url`; an absent engine is tried for ever, one log line an attempt. */
export function connect(url: string, { name, description }: Identity, log: Log): Bus {
  silenceSdk(log);
  return registerWorker(url, {
    workerName: name,
    workerDescription: description,
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: { initialDelayMs: 500, maxDelayMs: 5000 },
  });
}

/**
 * Section 4: the SDK talks on stdout, and prints whole error objects on stderr. Both become lines of the log. File
 * contents must not leave in traces either, so their capture is off unless the operator has set it.
 */
function silenceSdk(log: Log): void {
  process.env["III_DISABLE_TRACE_PAYLOADS"] ??= "1";
  const line = (parts: readonly unknown[]): string =>
    parts.map((part) => (part instanceof Error ? part.message : String(part)).split("\n", 1)[0]).join(" ");
  const quiet = (...parts: unknown[]) => log.debug(line(parts));
  const loud = (...parts: unknown[]) => log.warn(line(parts));
  Object.assign(console, { log: quiet, info: quiet, debug: quiet, warn: loud, error: loud });
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

/** Messages of 64 KiB that a channel holds, and how long making one may take (specification of shell, section 2.4). */
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

/**
 * A payload with the channels in its fields as they were sent: the SDK makes live ends of them before a function is
 * called, whatever the function wants to do with them (specification of shell, section 2.4).
 */
export function restoreChannels(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return payload;
  const fields = Object.entries(payload);
  if (!fields.some(([, field]) => isEnd(field))) return payload;
  return Object.fromEntries(fields.map(([name, field]) => [name, isEnd(field) ? refOf(field) : field]));
}

type End = ChannelReader | ChannelWriter;

const isEnd = (field: unknown): field is End =>
  field instanceof ChannelReader || field instanceof ChannelWriter;

/** An end keeps nothing but the address that it connects to. */
function refOf(end: End): ChannelRef {
  const { url } = end as unknown as { readonly url: string };
  const address = new URL(url);
  return {
    channel_id: url.slice(url.indexOf(channelPath) + channelPath.length, url.lastIndexOf("?key=")),
    access_key: address.searchParams.get("key") ?? "",
    direction: end instanceof ChannelReader ? "read" : "write",
  };
}

const channelPath = "/ws/channels/";
