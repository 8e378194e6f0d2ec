import { randomBytes } from "node:crypto";

/** What a dry run has shown, to be done exactly so by a call with a context. */
interface Plan<Context> {
  /** The worker that asked for it. */
  readonly caller: string | undefined;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Does it, or throws and changes nothing. */
  readonly carryOut: (plan: string, context: Context) => Promise<unknown>;
}

/** A plan as it is on the wire: its name, and until when it holds, in seconds since 1970. */
export interface PlanAnswer {
  readonly plan: string;
  readonly plan_expires_at: number;
}

const lifetimeMilliseconds = 10 * 60_000;
const mostPlans = 64;

/** The plans of one worker: in memory, as a new process has another tree before it. */
export class Plans<Context extends { readonly caller?: string | undefined }> {
  readonly #plans = new Map<string, Plan<Context>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Keeps a plan for ten minutes; the oldest makes room when there are 64. */
  add({ caller, carryOut }: Pick<Plan<Context>, "caller" | "carryOut">): PlanAnswer {
    const name = randomBytes(16).toString("hex");
    const expires = this.#now() + lifetimeMilliseconds;
    this.#put(name, { caller, carryOut, expires });
    return { plan: name, plan_expires_at: Math.floor(expires / 1000) };
  }

  /** Does what a plan of the caller says, once. Undefined for none. When it throws, the plan stays. */
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
    if (this.#plans.size >= mostPlans && oldest !== undefined) this.#plans.delete(oldest);
    this.#plans.set(name, plan);
  }
}
