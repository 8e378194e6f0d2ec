import { AsyncLocalStorage } from "node:async_hooks";
import type { RequestId } from "@modelcontextprotocol/server";
import type { AnswerBudget } from "../worker/answer-budget.ts";
import type { AnswerLease } from "../worker/define.ts";

/** The leases of the answers that one connection owes, by the ids of their requests. */
export class Leases {
  readonly #open = new Map<RequestId, AnswerLease>();
  readonly #budget: AnswerBudget;
  readonly #caller: string;

  /** `caller` is who shares the budget fairly with others: a session or a connection. */
  constructor(budget: AnswerBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /** A lease for a call: one that ends with `cancelled` is never answered. A second call of a request shares it. */
  open(id: RequestId, cancelled: AbortSignal): AnswerLease {
    const lease = this.#open.get(id) ?? this.#budget.lease(this.#caller);
    this.#open.set(id, lease);
    if (cancelled.aborted) this.release(id);
    else cancelled.addEventListener("abort", () => this.release(id), { once: true });
    return lease;
  }

  /** The answer to this request was sent. */
  release(id: RequestId): void {
    this.#open.get(id)?.release();
    this.#open.delete(id);
  }

  /** All were sent, or will never be. */
  releaseAll(): void {
    for (const id of this.#open.keys()) this.release(id);
  }
}

/** Those of the HTTP exchange that is being handled: its requests reach the functions through the SDK. */
export const leasesOfExchange = new AsyncLocalStorage<Leases>();
