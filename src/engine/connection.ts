import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import { type Frame, type Json, renderFrame } from "./frames.ts";

/** A frame as sent or received, for tests and logs. */
export interface RecordedFrame {
  /** Id of the worker at the other end. */
  readonly workerId: string;
  readonly direction: "received" | "sent";
  readonly text: string;
  /** Why a received frame was dropped as a whole; absent when it was accepted. */
  readonly fault?: string;
}

/** The description that a worker sends of itself with `engine::workers::register`. */
export type Profile = Readonly<Record<string, Json>>;

export interface ConnectionOptions {
  /** Called with every frame to and from workers, also with dropped ones. */
  readonly onFrame?: (frame: RecordedFrame) => void;
  /** Bytes that a worker may leave unread before its connection is cut; default 256 MiB. */
  readonly maxUnsentBytes?: number;
}

const defaultMaxUnsentBytes = 256 * 1024 * 1024;

/** The socket of one worker, and its description. Every client of the bus is a worker. */
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

  /** The name in the worker's description; undefined before it has sent one. */
  get name(): string | undefined {
    const { name } = this.profile;
    return typeof name === "string" ? name : undefined;
  }

  /** Bytes that its worker has not read. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends a frame, which is lost when the socket is closed. Cuts off a worker that does not read. */
  send(frame: Frame): void {
    const text = renderFrame(frame);
    this.#options.onFrame?.({ workerId: this.id, direction: "sent", text });
    this.#socket.send(text);
    if (this.unsentBytes > (this.#options.maxUnsentBytes ?? defaultMaxUnsentBytes)) this.cut();
  }

  /** Reports a received frame. */
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
