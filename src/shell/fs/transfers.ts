import { refuseFs } from "./fs-errors.ts";

/** Most transfers at once: each holds a file and a socket. */
const most = 64;

/** The transfers of files under way. */
export class Transfers {
  readonly #inFlight = new Set<AbortController>();

  /** Begins a transfer; its signal aborts when the worker ends. Throws io when there are too many. */
  begin(): { readonly signal: AbortSignal; end(): void } {
    if (this.#inFlight.size >= most) throw refuseFs.tooManyTransfers(most);
    const controller = new AbortController();
    this.#inFlight.add(controller);
    return { signal: controller.signal, end: () => this.#inFlight.delete(controller) };
  }

  /** Ends all transfers that are still running. */
  close(): void {
    for (const controller of this.#inFlight) controller.abort();
  }
}
