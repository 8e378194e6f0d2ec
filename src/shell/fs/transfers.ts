import { refuseFs } from "./fs-errors.ts";

/** Maximum concurrent transfers. Each holds a file and a socket. */
const most = 64;

/** The running transfers of files. */
export class Transfers {
  readonly #inFlight = new Set<AbortController>();

  /** Begins a transfer, whose signal aborts when the worker ends. Throws io if there are too many. */
  begin(): { readonly signal: AbortSignal; end(): void } {
    if (this.#inFlight.size >= most) throw refuseFs.tooManyTransfers(most);
    const controller = new AbortController();
    this.#inFlight.add(controller);
    return { signal: controller.signal, end: () => this.#inFlight.delete(controller) };
  }

  /** Ends all running transfers, as the worker does when it stops. */
  close(): void {
    for (const controller of this.#inFlight) controller.abort();
  }
}
