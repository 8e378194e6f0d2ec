import { AsyncLocalStorage } from "node:async_hooks";
import type { RequestId } from "@modelcontextprotocol/server";
import type { AnswerLease } from "../contract/definition.ts";
import type { AnswerBudget } from "../worker/answer-budget.ts";

/** The leases of the answers that one connection owes, by the ids of their requests. */
export class Leases {
  /** A client may use an id again while it waits for the answer. */
  readonly #open = new Map<RequestId, AnswerLease[]>();
  readonly #budget: AnswerBudget;
  readonly #caller: string;

  /** `caller` is who shares the budget fairly with others: a session or a connection. */
  constructor(budget: AnswerBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /** A lease for a call; one that ends with `cancelled` is not answered, unless its answer is being sent by then. */
  open(id: RequestId, cancelled: AbortSignal): AnswerLease {
    const lease = this.#budget.lease(this.#caller);
    this.#open.set(id, [...(this.#open.get(id) ?? []), lease]);
    const drop = () => this.#remove(id, lease)?.release();
    if (cancelled.aborted) drop();
    else cancelled.addEventListener("abort", drop, { once: true });
    return lease;
  }

  /** The lease of the answer to this request, for a transport that releases it once the answer has left. */
  take(id: RequestId): AnswerLease | undefined {
    const oldest = this.#open.get(id)?.[0];
    return oldest && this.#remove(id, oldest);
  }

  /** All answers were sent, or will never be. */
  releaseAll(): void {
    for (const lease of [...this.#open.values()].flat()) lease.release();
    this.#open.clear();
  }

  #remove(id: RequestId, lease: AnswerLease): AnswerLease | undefined {
    const leases = this.#open.get(id);
    if (!leases?.includes(lease)) return undefined;
    const others = leases.filter((other) => other !== lease);
    if (others.length > 0) this.#open.set(id, others);
    else this.#open.delete(id);
    return lease;
  }
}

/** Those of the HTTP exchange that is being handled: its requests reach the functions through the SDK. */
export const leasesOfExchange = new AsyncLocalStorage<Leases>();
