/** The bus that a call came over, beyond the answer that it carries. */
import type { Readable, Writable } from "node:stream";

/** A channel of the bus, as payloads name it (bus §5). */
export interface ChannelRef {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: "read" | "write";
}

/** The end of a channel that bytes come out of. It connects when it is read. */
export interface ChannelSource {
  readonly stream: Readable;
  /** Receives text messages sent beside the bytes. Call it before reading. */
  onMessage(receive: (text: string) => void): void;
  close(): void;
}

/** The end of a channel that bytes go into. It connects with the first byte or message, or on request. */
export interface ChannelSink {
  readonly stream: Writable;
  /** Connects, so that the reader sees the end of an empty stream too. */
  connect(): void;
  sendMessage(text: string): void;
  close(): void;
}

/** The bus that a call came over, for functions that reach beyond this worker. */
export interface BusAccess {
  /**
   * Calls a function of another worker. Rejects with a `RemoteError` if that fails or takes longer than
   * `milliseconds`.
   */
  call(functionId: string, payload: unknown, milliseconds: number): Promise<unknown>;
  /** Creates a channel, and returns both ends. Rejects with a `RemoteError`. */
  createChannel(): Promise<{ readonly reader: ChannelRef; readonly writer: ChannelRef }>;
  /** Opens the reading end of a channel, whatever `direction` says. */
  openSource(channel: ChannelRef): ChannelSource;
  openSink(channel: ChannelRef): ChannelSink;
}

/** Thrown for a call over the bus that failed. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** The code on the bus: `invocation_failed` for an error of a worker, `TIMEOUT`, `function_not_found`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
