import type { TestEngine } from "../harness/engines/executable.ts";

/** A call as the sandbox worker received it, without the fields that the engine adds. */
export interface Received {
  readonly functionId: string;
  readonly payload: Record<string, unknown>;
}

export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * A sandbox worker controlled by the test. It speaks the protocol itself, as the SDK has one code for all
 * errors.
 */
export class Sandbox {
  readonly received: Received[] = [];
  reply: (call: Received) => Reply | Promise<Reply> = () => ({ result: {} });
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => void this.#receive(JSON.parse(String(data))));
  }

  static async start(engine: TestEngine): Promise<Sandbox> {
    const socket = new WebSocket(engine.url);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const sandbox = new Sandbox(socket);
    for (const id of functionIds) sandbox.#send({ type: "registerfunction", id, description: "" });
    await Promise.all(functionIds.map((id) => engine.waitForFunction(id)));
    return sandbox;
  }

  stop(): void {
    this.#socket.close();
  }

  async #receive(frame: Record<string, unknown>): Promise<void> {
    if (frame["type"] !== "invokefunction") return;
    const { invocation_id, function_id, data } = frame;
    const { _caller_worker_id, ...payload } = data as Record<string, unknown>;
    const call = { functionId: function_id as string, payload };
    this.received.push(call);
    // The engine of iii loses answers within the first millisecond (src/calls/earliest.ts).
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.#send({ type: "invocationresult", invocation_id, function_id, ...(await this.reply(call)) });
  }

  #send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }
}

const fileOps = ["ls", "stat", "mkdir", "rm", "chmod", "mv", "grep", "sed", "read", "write"];
const functionIds = ["sandbox::exec", ...fileOps.map((op) => `sandbox::fs::${op}`)];
