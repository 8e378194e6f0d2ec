import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import { type Frame, type Json, renderFrame } from "./frames.ts";

/** A frame as it passed, for tests and logs to watch. */
export interface RecordedFrame {
  /** Id of the worker at the other end. */
  readonly workerId: string;
  readonly direction: "received" | "sent";
  readonly text: string;
  /** Why a received frame was dropped whole; absent when it was taken. */
  readonly fault?: string;
}

/** The description that a worker sends of itself with `engine::workers::register`. */
export type Profile = Readonly<Record<string, Json>>;

export interface ConnectionOptions {
  /** Sees every frame to and from workers, also those that are dropped. */
  readonly onFrame?: (frame: RecordedFrame) => void;
  /** A worker that leaves more unread, in bytes, loses its connection; default 256 MiB. */
  readonly maxUnsentBytes?: number;
}

const defaultMaxUnsentBytes = 256 * 1024 * 1024;

/** One worker's socket, and who is at its other end. Every client of the bus is a worker. */
export class WorkerConnection {
  readonly id: string = randomUUID();
  /** A secret of this worker: a connection that presents it retires this one. */
  readonly reattachToken: string = randomUUID();
  readonly connectedAt: number = Date.now();
  profile: Profile = {};
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** The name the worker gave itself, once it has. */
  get name(): string | undefined {
    const { name } = this.profile;
    return typeof name === "string" ? name : undefined;
  }

  /** Bytes that its worker has not read. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends a frame; to a socket that is gone it is lost, as on any wire. A worker that does not read is cut off. */
  send(frame: Frame): void {
    const text = renderFrame(frame);
    this.#options.onFrame?.({ workerId: this.id, direction: "sent", text });
    this.#socket.send(text);
    if (this.unsentBytes > (this.#options.maxUnsentBytes ?? defaultMaxUnsentBytes)) this.cut();
  }

  /** Notes a frame that came in. */
  record(text: string, fault: string | undefined): void {
    this.#options.onFrame?.({
      workerId: this.id,
      direction: "received",
      text,
      ...(fault !== undefined && { fault }),
    });
  }

  /** Closes the socket once what was sent has left. */
  close(): void {
    this.#socket.close();
  }

  /** Cuts the socket without a closing handshake. */
  cut(): void {
    this.#socket.terminate();
  }
}
