import { randomBytes } from "node:crypto";
import { refuseTransacting } from "./transact-errors.ts";

/** A result of a dry run, which a call can carry out exactly. */
interface Plan<Context> {
  /** The worker that requested it. */
  readonly caller: string | undefined;
  /** The time when it is dropped, in milliseconds since 1970. */
  readonly expires: number;
  /** The approximate bytes of memory that it takes. */
  readonly bytes: number;
  /** Carries out the plan, or throws and changes nothing. */
  readonly carryOut: (plan: string, context: Context) => Promise<unknown>;
}

/** The form of a plan on the wire: its name, and its expiry in seconds since 1970. */
export interface PlanAnswer {
  readonly plan: string;
  readonly plan_expires_at: number;
}

const lifetimeMilliseconds = 10 * 60_000;
const maxPlans = 64;

const mebibyte = 1024 * 1024;

/** Maximum bytes of all plans together, and of those of one caller. */
const maxPlanBytes = { ofAll: 128 * mebibyte, ofCaller: 64 * mebibyte } as const;

/**
 * The plans of one worker. They are kept in memory only, because the tree may have changed for a new process.
 */
export class Plans<Context extends { readonly caller?: string | undefined }> {
  readonly #plans = new Map<string, Plan<Context>>();
  readonly lifetimeMilliseconds = lifetimeMilliseconds;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Keeps a plan for ten minutes. The oldest makes room when there are 64; the oldest of the caller when
   * those of the caller take 64 MiB, and those of the caller with the most when all take 128 MiB. Throws
   * too-large for one that takes more by itself.
   */
  add({ caller, carryOut, bytes }: Omit<Plan<Context>, "expires">): PlanAnswer {
    if (bytes > maxPlanBytes.ofCaller) throw refuseTransacting.largePlan(bytes, maxPlanBytes.ofCaller);
    const name = randomBytes(16).toString("hex");
    const expires = this.#now() + lifetimeMilliseconds;
    this.#put(name, { caller, carryOut, expires, bytes });
    return { plan: name, plan_expires_at: Math.floor(expires / 1000) };
  }

  /**
   * Carries out a plan of the caller, once. Returns `undefined` without such a plan. If it throws, the plan
   * stays.
   */
  async carryOut(name: string, context: Context): Promise<{ answer: unknown } | undefined> {
    const plan = this.#plans.get(name);
    if (plan === undefined || plan.caller !== context.caller) return undefined;
    this.#plans.delete(name);
    if (plan.expires <= this.#now()) return undefined;
    try {
      return { answer: await plan.carryOut(name, context) };
    } catch (error) {
      this.#put(name, plan);
      throw error;
    }
  }

  #put(name: string, plan: Plan<Context>): void {
    const [oldest] = this.#plans.keys();
    if (this.#plans.size >= maxPlans && oldest !== undefined) this.#plans.delete(oldest);
    this.#plans.set(name, plan);
    while (this.#bytesOf(plan.caller) > maxPlanBytes.ofCaller) this.#dropOldestOf(plan.caller);
    while (this.#bytes > maxPlanBytes.ofAll) this.#dropOldestOf(this.#largestCaller());
  }

  get #bytes(): number {
    return this.#sum([...this.#plans.values()]);
  }

  #bytesOf(caller: string | undefined): number {
    return this.#sum([...this.#plans.values()].filter((plan) => plan.caller === caller));
  }

  #sum(plans: readonly Plan<Context>[]): number {
    return plans.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #largestCaller(): string | undefined {
    const callers = new Set([...this.#plans.values()].map(({ caller }) => caller));
    return [...callers].reduce((one, other) => (this.#bytesOf(other) > this.#bytesOf(one) ? other : one));
  }

  #dropOldestOf(caller: string | undefined): void {
    const [oldest] = [...this.#plans].find(([, plan]) => plan.caller === caller)!;
    this.#plans.delete(oldest);
  }
}
