/** A client of the engine below the SDK, for tests. */
import { WebSocket } from "ws";

type Received = Record<string, unknown>;

/** A worker that has been welcomed. */
export type JoinedWorker = RawWorker & { readonly welcome: Received };

/** A worker that sends exactly the frames that a test hands it. */
export class RawWorker {
  readonly socket: WebSocket;
  readonly #received: Received[] = [];
  #wake: () => void = () => {};

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on("message", (data) => {
      this.#received.push(JSON.parse(data.toString()));
      this.#wake();
    });
  }

  /** Connects, and reads the welcome. */
  static async join(url: string): Promise<JoinedWorker> {
    const worker = new RawWorker(url);
    return Object.assign(worker, { welcome: await worker.next() });
  }

  send(frame: Received | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Returns the next frame received. */
  async next(): Promise<Received> {
    while (this.#received.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#received.shift()!;
  }
}

/** Waits until the engine has taken everything that a worker sent so far. */
export async function settled(worker: RawWorker): Promise<void> {
  worker.send({ type: "ping" });
  const answer = await worker.next();
  if (answer["type"] !== "pong") throw new Error(`not a pong: ${JSON.stringify(answer)}`);
}
