import { randomUUID } from "node:crypto";
import type { RawData, WebSocket } from "portable-ws";

/** The address of one end of a channel. */
export type ChannelAddress = { channel_id: string; access_key: string; direction: "read" | "write" };

/** Messages that a channel holds for its reader before the writer is paused (bus §5). */
const bufferSize = { min: 1, default: 64, max: 1024 } as const;

/** Milliseconds after which a channel without both ends is removed. */
const idleLimit = 5 * 60_000;

/** The byte streams between workers. Each is a pair of sockets, and forwards messages one by one. */
export class Channels {
  readonly #open = new Map<string, Channel>();

  /** Opens a channel that holds up to `size` messages. */
  create(size: number = bufferSize.default): { writer: ChannelAddress; reader: ChannelAddress } {
    const channel_id = randomUUID();
    const access_key = randomUUID();
    const capacity = Math.min(Math.max(size, bufferSize.min), bufferSize.max);
    this.#open.set(channel_id, new Channel(access_key, capacity, () => this.#open.delete(channel_id)));
    return {
      writer: { channel_id, access_key, direction: "write" },
      reader: { channel_id, access_key, direction: "read" },
    };
  }

  /**
   * Finds the end that an address names, and returns a function that attaches a socket to it; `undefined`
   * means 404.
   */
  admit(id: string, query: URLSearchParams): ((socket: WebSocket) => void) | undefined {
    const channel = this.#open.get(id);
    if (channel === undefined || channel.accessKey !== query.get("key")) return undefined;
    const direction = query.get("dir");
    if (direction === "read") return (socket) => channel.attachReader(socket);
    if (direction === "write") return (socket) => channel.attachWriter(socket);
    return undefined;
  }

  /** Removes all channels and cuts their sockets. */
  dropAll(): void {
    for (const channel of this.#open.values()) channel.drop();
  }
}

class Channel {
  readonly accessKey: string;
  readonly #capacity: number;
  readonly #forget: () => void;
  readonly #idle: NodeJS.Timeout;
  readonly #waiting: { data: RawData; binary: boolean }[] = [];
  #inFlight = 0;
  #ended = false;
  #writer: WebSocket | undefined;
  #reader: WebSocket | undefined;

  constructor(accessKey: string, capacity: number, forget: () => void) {
    this.accessKey = accessKey;
    this.#capacity = capacity;
    this.#forget = forget;
    this.#idle = setTimeout(() => this.drop(), idleLimit);
    this.#idle.unref();
  }

  /** Attaches the first writer. Accepts any other and closes it at once, as the production engine does. */
  attachWriter(socket: WebSocket): void {
    if (this.#writer !== undefined) {
      socket.close();
      return;
    }
    this.#writer = socket;
    this.#keep();
    socket.on("message", (data, binary) => {
      this.#waiting.push({ data, binary });
      this.#pass();
    });
    socket.on("close", () => {
      this.#ended = true;
      this.#pass();
    });
  }

  /** Attaches the first reader, like `attachWriter`. */
  attachReader(socket: WebSocket): void {
    if (this.#reader !== undefined) {
      socket.close();
      return;
    }
    this.#reader = socket;
    this.#keep();
    socket.on("close", () => this.drop());
    this.#pass();
  }

  /** Ends the channel. Messages not yet sent to the reader are lost. */
  drop(): void {
    clearTimeout(this.#idle);
    this.#waiting.length = 0;
    this.#forget();
    this.#writer?.terminate();
    this.#reader?.terminate();
  }

  #keep(): void {
    if (this.#writer !== undefined && this.#reader !== undefined) clearTimeout(this.#idle);
  }

  /** Sends as much as the reader can take, and resumes or pauses the writer. */
  #pass(): void {
    while (this.#reader !== undefined && this.#inFlight < this.#capacity) {
      const message = this.#waiting.shift();
      if (message === undefined) break;
      this.#inFlight += 1;
      this.#reader.send(message.data, { binary: message.binary }, () => {
        this.#inFlight -= 1;
        this.#pass();
      });
    }
    if (this.#waiting.length >= this.#capacity) this.#writer?.pause();
    else this.#writer?.resume();
    if (this.#ended && this.#waiting.length === 0 && this.#inFlight === 0) this.#reader?.close(1000);
  }
}
