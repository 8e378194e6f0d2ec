import type { RequestId } from "@modelcontextprotocol/server";
import type { AnswerBudget } from "../../calls/answer-budget.ts";
import type { AnswerLease } from "../../calls/contract/origin.ts";

/** The leases of one connection's pending answers, by the ids of their requests. */
export class Leases {
  /** The open leases by id, oldest first. A client may reuse the id of a call that it has cancelled. */
  readonly #open = new Map<RequestId, AnswerLease[]>();
  readonly #budget: AnswerBudget;
  /** The caller whose share of the budget they use: a session or a connection. */
  readonly caller: string;

  constructor(budget: AnswerBudget, caller: string) {
    this.#budget = budget;
    this.caller = caller;
  }

  /**
   * Opens a lease for a call. `cancelled` releases it, unless the transport has taken it, because a cancelled
   * call has no answer.
   */
  open(id: RequestId, cancelled: AbortSignal): AnswerLease {
    const lease = this.#budget.lease(this.caller);
    this.#open.set(id, [...(this.#open.get(id) ?? []), lease]);
    const drop = () => this.#remove(id, lease)?.release();
    if (cancelled.aborted) drop();
    else cancelled.addEventListener("abort", drop, { once: true });
    return lease;
  }

  /** Takes the lease of the answer to this request, for a transport that releases it after sending. */
  take(id: RequestId): AnswerLease | undefined {
    const oldest = this.#open.get(id)?.[0];
    return oldest && this.#remove(id, oldest);
  }

  /** Releases all leases, because their answers were sent, or never will be. */
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
