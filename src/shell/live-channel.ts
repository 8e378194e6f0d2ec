/** Sends the outputs of a command over a channel of the bus while it runs (shell §15). */
import { type Static, Type } from "@sinclair/typebox";
import { type BusAccess, type ChannelSink, RemoteError } from "../calls/contract/bus-access.ts";
import { idleMilliseconds } from "./fs/content.ts";
import type { LiveOutput } from "./programs/output.ts";
import { refuseShell } from "./shell-errors.ts";

/**
 * Maximum bytes that wait for the reader. Beyond that, the command waits too. At twice as many, the channel
 * is cut.
 */
const maxWaiting = 1024 * 1024;

/** The reading end of a channel, in an answer. */
export const OutputChannel = Type.Object(
  { access_key: Type.String(), channel_id: Type.String(), direction: Type.Literal("read") },
  { since: "0.4.0" },
);

export interface LiveChannel {
  /** The end of the channel that the caller reads. */
  readonly reader: Static<typeof OutputChannel>;
  /** Sends a piece of output into the channel. */
  readonly live: LiveOutput;
  /** Makes the command no longer wait for the reader. */
  release(): void;
  /** Aborts once nothing more is read: the reader has left, or has been idle for too long. */
  readonly gone: AbortSignal;
  /** Sends the waiting bytes, then a text message, and ends the channel. Never rejects. */
  finish(last: object): Promise<void>;
}

/** Opens a channel to the caller. Throws a `Refusal` without a bus, or if the engine fails to create one. */
export async function openLiveChannel(bus: BusAccess | undefined): Promise<LiveChannel> {
  if (bus === undefined) throw refuseShell.noBus("a channel");
  try {
    const { reader, writer } = await bus.createChannel();
    return { reader: { ...reader, direction: "read" }, ...sendInto(bus.openSink(writer)) };
  } catch (error) {
    throw error instanceof RemoteError ? refuseShell.noChannel() : error;
  }
}

function sendInto(sink: ChannelSink): Omit<LiveChannel, "reader"> {
  const { stream } = sink;
  const left = new AbortController();
  let waiting = 0;
  let lastTaken = Promise.resolve();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let idle: NodeJS.Timeout | undefined;
  const watch = () => {
    clearTimeout(idle);
    idle =
      waiting > 0 && !stream.destroyed ? setTimeout(() => stream.destroy(), idleMilliseconds) : undefined;
  };
  const hasLeft = new Promise<void>((resolve) => stream.once("close", resolve)).then(() => {
    clearTimeout(idle);
    left.abort();
  });
  stream.on("error", () => undefined);
  sink.connect();
  return {
    gone: left.signal,
    release,
    live(piece) {
      if (waiting + piece.length > 2 * maxWaiting) stream.destroy();
      if (stream.destroyed) return;
      waiting += piece.length;
      watch();
      lastTaken = new Promise((resolve) => {
        stream.write(piece, () => {
          waiting -= piece.length;
          watch();
          resolve();
        });
      });
      return waiting > maxWaiting ? Promise.race([lastTaken, hasLeft, released]) : undefined;
    },
    async finish(last) {
      await Promise.race([lastTaken, hasLeft]);
      if (stream.destroyed) return;
      sink.sendMessage(JSON.stringify(last));
      stream.end();
    },
  };
}
