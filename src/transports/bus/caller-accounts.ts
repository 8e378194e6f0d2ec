import type { Bus } from "./bus.ts";

/** The account of all callers without a name. */
const unnamed = "callers without a name";

/** Maximum callers whose accounts are remembered. */
const maxCallers = 1000;

/** The milliseconds that the engine has to list its workers. */
const listMilliseconds = 2000;

interface WorkerRow {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly pid?: unknown;
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
    const account = await this.#find(caller);
    if (account === undefined) return unnamed;
    this.#accounts.set(caller, account);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxCallers) this.#accounts.delete(oldest!);
    return account;
  }

  async #find(caller: string): Promise<string | undefined> {
    try {
      const request = { function_id: "engine::workers::list", payload: {}, timeoutMs: listMilliseconds };
      const { workers } = (await this.#bus.trigger(request)) as { readonly workers: readonly WorkerRow[] };
      const row = workers.find(({ id }) => id === caller);
      return row === undefined ? undefined : accountOf(row);
    } catch {
      return undefined;
    }
  }
}

/** Returns the name of a worker, without the process id that the SDK puts into its default names. */
function accountOf({ name, pid }: WorkerRow): string | undefined {
  if (typeof name !== "string" || name === "") return undefined;
  const ending = `:${String(pid)}`;
  return `worker ${name.endsWith(ending) ? name.slice(0, -ending.length) : name}`;
}
