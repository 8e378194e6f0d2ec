import type { WorkerConnection } from "./connection.ts";
import type { FrameError, FrameOf } from "./frames.ts";

/** The outcome of a call, a success if `error` is absent. A null result is absent. */
export type InvocationOutcome = Pick<FrameOf<"invocationresult">, "result" | "error">;

/** A call that waits for its answer. */
export interface Invocation {
  readonly server: WorkerConnection;
  /** The worker that made the call; `undefined` if the engine itself made it. */
  readonly caller: WorkerConnection | undefined;
  readonly settle: (outcome: InvocationOutcome) => void;
}

/** Thrown for a failed call, with the error that its caller gets over the wire. */
export class EngineFailure extends Error {
  override readonly name = "EngineFailure";
  readonly code: string;
  /** The stack of the handler, as the worker sent it. */
  readonly stacktrace: string | undefined;

  constructor({ code, message, stacktrace }: FrameError) {
    super(message);
    this.code = code;
    this.stacktrace = stacktrace;
  }
}

/** The error of a call whose worker's connection ends (bus §2). */
export const stopped: FrameError = { code: "invocation_stopped", message: "Invocation stopped" };

/** The calls that wait for an answer, without a timeout: callers have their own. */
export class Invocations {
  readonly #pending = new Map<string, Invocation>();

  /**
   * Adds a call under the id that its caller chose. Abandons an earlier call with this id, as the production
   * engine does by dropping the channel for its answer.
   */
  add(id: string, invocation: Invocation): void {
    this.#pending.get(id)?.settle({ error: { code: "invocation_error", message: "channel closed" } });
    this.#pending.set(id, invocation);
  }

  /** Settles a call for any connection that knows its id. Drops an answer with an unknown id. */
  settle(id: string, outcome: InvocationOutcome): void {
    const invocation = this.#pending.get(id);
    if (invocation === undefined) return;
    this.#pending.delete(id);
    invocation.settle(outcome.error === undefined ? { result: outcome.result } : { error: outcome.error });
  }

  /** Ends every call that a connection has made or serves. An answer to a caller that has left is lost. */
  stop(connection: WorkerConnection): void {
    for (const [id, { server, caller, settle }] of this.#pending) {
      if (server !== connection && caller !== connection) continue;
      this.#pending.delete(id);
      settle({ error: stopped });
    }
  }

  /** Returns the number of calls that a worker is serving. */
  servedBy(connection: WorkerConnection): number {
    let count = 0;
    for (const { server } of this.#pending.values()) if (server === connection) count += 1;
    return count;
  }
}
