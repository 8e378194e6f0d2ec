import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "./bus.ts";

/** The account of all callers without a name. */
const unnamed = "callers without a name";

/** Maximum callers whose accounts are remembered. */
const maxCallers = 1000;

/** The milliseconds that the engine has to list its workers. */
const listMilliseconds = 2000;

/** The number of lists that are read for a caller who is in none, and the milliseconds between them. */
const attempts = { count: 4, everyMilliseconds: 50 };

interface WorkerRow {
  readonly id?: unknown;
  readonly name?: unknown;
}

/**
 * Finds the accounts of callers for their quotas. The engine gives each connection a new id, so a caller that
 * connects again for each call would have a new account each time: its account is the name of its worker.
 */
export class CallerAccounts {
  readonly #bus: Pick<Bus, "trigger">;
  readonly #accounts = new Map<string, string>();

  constructor(bus: Pick<Bus, "trigger">) {
    this.#bus = bus;
  }

  /** Returns the account of the worker with this id. Never rejects. */
  async of(caller: string): Promise<string> {
    const known = this.#accounts.get(caller);
    if (known !== undefined) return known;
    const account = (await this.#find(caller)) ?? unnamed;
    this.#accounts.set(caller, account);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxCallers) this.#accounts.delete(oldest!);
    return account;
  }

  async #find(caller: string): Promise<string | undefined> {
    try {
      const request = { function_id: "engine::workers::list", payload: {}, timeoutMs: listMilliseconds };
      // The engine may handle the first call of a connection before the registration sent earlier.
      for (let attempt = 1; attempt <= attempts.count; attempt++) {
        const { workers } = (await this.#bus.trigger(request)) as { readonly workers: readonly WorkerRow[] };
        const row = workers.find(({ id }) => id === caller);
        const account = row && accountOf(row);
        if (account !== undefined) return account;
        if (attempt < attempts.count) await sleep(attempts.everyMilliseconds);
      }
      return undefined;
    } catch {
      return undefined;
    }
  }
}

/** A process id at the end of a name: in default names of the SDK (`host:7`), and in that of `coder call`. */
const processEnding = /:\d+$|(?<=^coder-call)-\d+$/;

/** Returns the name of a worker, without the id of its process. */
function accountOf({ name }: WorkerRow): string | undefined {
  if (typeof name !== "string" || name === "") return undefined;
  return `worker ${name.replace(processEnding, "")}`;
}
