import { AsyncLocalStorage } from "node:async_hooks";
import type { Arrival } from "../../calls/call-order.ts";
import type { Leases } from "./leases.ts";
import type { LateJson } from "./sdk-gaps/late-json.ts";

/** The parts of an HTTP exchange that its calls need. */
interface CurrentExchange {
  readonly leases: Leases;
  readonly late: LateJson;
  /** The place of its calls among those of their session; `undefined` without a session. */
  readonly arrival: Arrival | undefined;
}

/** The current HTTP exchange, whose requests reach the functions through the SDK. */
export const currentExchange = new AsyncLocalStorage<CurrentExchange>();
