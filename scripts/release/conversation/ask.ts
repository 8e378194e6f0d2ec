import type { IIIClient } from "iii-sdk";

/** Calls functions of a worker. */
export interface Asking {
  readonly client: IIIClient;
  /** The address of the engine, where its channels are. */
  readonly url: string;
  /** The deadline for the worker to be ready, in milliseconds of `performance.now()`. */
  readonly until: number;
}

/** Calls a function, and retries while the worker is still starting. Throws the error of the call. */
export async function ask<Answer>({ client, until }: Asking, id: string, payload: object): Promise<Answer> {
  for (;;) {
    try {
      // The SDK restarts its own timeout if the engine is gone, which ends with the worker.
      const timeoutMs = Math.max(1, until - performance.now());
      return await client.trigger<object, Answer>({ function_id: id, payload, timeoutMs });
    } catch (error) {
      const isEarly = (error as { code?: string }).code === "function_not_found";
      if (!isEarly || performance.now() > until) throw error;
    }
  }
}
