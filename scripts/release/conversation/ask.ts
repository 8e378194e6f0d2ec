import type { IIIClient } from "iii-sdk";

/** Calls functions of a worker. */
export interface Asking {
  readonly client: IIIClient;
  /** The engine's address. */
  readonly url: string;
  /** When the worker has to be there, in milliseconds as `performance.now()` has them. */
  readonly until: number;
}

/** Calls a function, and again while the worker is only about to be there. Throws what the call does. */
export async function ask<Answer>({ client, until }: Asking, id: string, payload: object): Promise<Answer> {
  for (;;) {
    try {
      // The SDK starts its own timeout again when the engine is gone, which ends with the worker.
      const timeoutMs = Math.max(1, until - performance.now());
      return await client.trigger<object, Answer>({ function_id: id, payload, timeoutMs });
    } catch (error) {
      const isEarly = (error as { code?: string }).code === "function_not_found";
      if (!isEarly || performance.now() > until) throw error;
    }
  }
}
