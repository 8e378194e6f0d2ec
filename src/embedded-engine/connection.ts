import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { WebSocket } from "portable-ws";
import { piecesOf } from "../base/scheduling/text-pieces.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { type Frame, isLargeFrame, type Json, renderFrame } from "./frames.ts";

/** A frame as sent or received, for tests and logs. */
export interface RecordedFrame {
  /** The id of the worker at the other end. */
  readonly workerId: string;
  readonly direction: "received" | "sent";
  readonly text: string;
  /** The reason why a received frame was dropped as a whole; absent if it was accepted. */
  readonly fault?: string;
}

/** The description that a worker sends of itself with `engine::workers::register`. */
export type Profile = Readonly<Record<string, Json>>;

export interface ConnectionOptions {
  /** Called with every frame to and from workers, including dropped ones. */
  readonly onFrame?: (frame: RecordedFrame) => void;
  /** Maximum bytes that a worker may leave unread before its connection is cut. Default: 256 MiB. */
  readonly maxUnsentBytes?: number;
  /** Maximum characters of a worker's large frames under way, beyond which it is cut. Default: 256 Mi. */
  readonly maxUnparsedLength?: number;
  /**
   * Offered each large frame before it is sent; returns whether it takes it. A worker of this process gets
   * its large frames so, because on its socket small ones would wait for the last byte of a large one.
   */
  readonly takeLarge?: (workerId: string, text: string) => boolean;
}

const defaultMaxUnsentBytes = 256 * 1024 * 1024;

/** Bytes of fragments that are encoded ahead. */
const maxBufferedBytes = 1024 * 1024;

/** The socket of one worker, and its description. Every client of the bus is a worker. */
export class WorkerConnection {
  readonly id: string = randomUUID();
  /** A secret of this worker: a connection that presents it retires this one. */
  readonly reattachToken: string = randomUUID();
  readonly connectedAt: number = Date.now();
  /** The characters of its large frames that are being parsed. */
  unparsedLength = 0;
  profile: Profile = {};
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  /** Texts to send after the large frame that is being sent in fragments, which is the first of them. */
  readonly #queue: string[] = [];
  #queuedLength = 0;
  #closes = false;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** The name in the worker's description, `undefined` before it has sent one. */
  get name(): string | undefined {
    const { name } = this.profile;
    return typeof name === "string" ? name : undefined;
  }

  /** The number of bytes that its worker has not read; characters of frames that are not encoded yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount + this.#queuedLength;
  }

  /** Sends a frame, which is lost if the socket is closed. Cuts off a worker that does not read. */
  send(frame: Frame): void {
    const text = renderFrame(frame);
    this.#options.onFrame?.({ workerId: this.id, direction: "sent", text });
    const isLarge = isLargeFrame(text);
    if (isLarge && this.#options.takeLarge?.(this.id, text)) return;
    if (this.#queue.length === 0 && !isLarge) this.#socket.send(text);
    else this.#enqueue(text);
    if (this.unsentBytes > (this.#options.maxUnsentBytes ?? defaultMaxUnsentBytes)) this.cut();
  }

  #enqueue(text: string): void {
    this.#queuedLength += text.length;
    if (this.#queue.push(text) === 1) void this.#sendQueue();
  }

  /**
   * Sends the queue in fragments, because encoding a large text in one step holds the event loop. A fragment
   * is encoded when the worker has read most of those before it, so that no text is in memory twice.
   */
  async #sendQueue(): Promise<void> {
    // The turn that rendered the first one has lasted long enough.
    await setImmediate();
    const slice = createTimeSlice();
    for (let text = this.#queue[0]; text !== undefined; text = this.#queue[0]) {
      let left = text.length;
      for (const piece of piecesOf(text)) {
        if (this.#socket.readyState !== this.#socket.OPEN) break;
        left -= piece.length;
        this.#queuedLength -= piece.length;
        await this.#sendFragment(Buffer.from(piece), left === 0);
        await slice.yieldIfDue();
      }
      this.#queuedLength -= left;
      this.#queue.shift();
    }
    if (this.#closes) this.#socket.close();
  }

  /** Resolves when there is room for another fragment, or the socket is closed. */
  async #sendFragment(bytes: Buffer, isLast: boolean): Promise<void> {
    let onRead = (): void => {};
    this.#socket.send(bytes, { binary: false, fin: isLast }, () => onRead());
    if (this.#socket.bufferedAmount <= maxBufferedBytes) return;
    await new Promise<void>((resolve) => {
      onRead = resolve;
      this.#socket.once("close", resolve);
    });
    this.#socket.off("close", onRead);
  }

  /** Reports a received frame to the observer. */
  record(text: string, fault: string | undefined): void {
    this.#options.onFrame?.({
      workerId: this.id,
      direction: "received",
      text,
      ...(fault !== undefined && { fault }),
    });
  }

  /** Closes the socket after everything sent has left. */
  close(): void {
    if (this.#queue.length === 0) this.#socket.close();
    else this.#closes = true;
  }

  /** Cuts the socket without a closing handshake. */
  cut(): void {
    this.#socket.terminate();
  }
}
