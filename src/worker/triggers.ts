/** Offers trigger types on the bus, and keeps the triggers that other workers register. */
import { isDeepStrictEqual } from "node:util";
import type { Fire, TriggerType } from "../contract/trigger.ts";
import type { Bus } from "./bus.ts";
import { refuseTrigger } from "./errors.ts";

/** Maximum triggers of all types together, and maximum ended triggers whose positions are kept. */
const mostTriggers = 256;

/** The milliseconds that the function of a trigger has to answer. */
const fireMilliseconds = 10_000;

/** A trigger in the SDK's form. */
interface RegisteredTrigger {
  readonly id: string;
  readonly function_id: string;
  readonly config?: unknown;
  readonly metadata?: Record<string, unknown>;
}

interface OpenTrigger {
  readonly trigger: RegisteredTrigger;
  /** Resolves to the function that ends the trigger and returns its position. */
  readonly end: Promise<() => string>;
}

export class Triggers {
  readonly #bus: Bus;
  readonly #types: readonly TriggerType[];
  readonly #open = new Map<string, OpenTrigger>();
  /**
   * The positions of ended triggers, by their ids. A worker that lost its connection may register them again.
   */
  readonly #ended = new Map<string, string>();

  /** Registers the types at the engine. */
  constructor(bus: Bus, types: readonly TriggerType[]) {
    this.#bus = bus;
    this.#types = types;
    for (const type of types)
      bus.registerTriggerType(messageOf(type), {
        registerTrigger: (trigger) => this.#add(type, trigger),
        unregisterTrigger: (trigger) => this.#remove(trigger.id),
      });
  }

  /** Ends all triggers, so that no function is called afterwards. */
  async stop(): Promise<void> {
    for (const type of this.#types) this.#bus.unregisterTriggerType(messageOf(type));
    await Promise.all([...this.#open.keys()].map((id) => this.#remove(id)));
  }

  /** Opens a trigger. The engine sends it again after each connect, and a known one then continues. */
  async #add(type: TriggerType, trigger: RegisteredTrigger): Promise<void> {
    const { id, config = {} } = trigger;
    const known = this.#open.get(id);
    if (known !== undefined && isDeepStrictEqual(known.trigger, trigger)) return;
    // A new trigger is stored without a wait before, because the engine may send it twice, or take it back,
    // during the wait.
    if (known !== undefined) await this.#remove(id);
    if (this.#open.size >= mostTriggers) throw refuseTrigger.tooMany(mostTriggers);
    const end = type.open(config, this.#fireOf(trigger), this.#ended.get(id));
    this.#open.set(id, { trigger, end });
    await end.catch((error: unknown) => {
      if (this.#open.get(id)?.end === end) this.#open.delete(id);
      throw error;
    });
  }

  #fireOf({ function_id, metadata }: RegisteredTrigger): Fire {
    const more = metadata === undefined ? {} : { metadata };
    return async (payload) => {
      try {
        await this.#bus.trigger({ function_id, payload, timeoutMs: fireMilliseconds, ...more });
        return "delivered";
      } catch (error) {
        return outcomes[(error as { readonly code?: string }).code ?? ""] ?? "unknown";
      }
    };
  }

  async #remove(id: string): Promise<void> {
    const known = this.#open.get(id);
    this.#open.delete(id);
    const end = await known?.end.catch(() => undefined);
    if (end === undefined) return;
    this.#ended.set(id, end());
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > mostTriggers) this.#ended.delete(oldest!);
  }
}

/** The outcomes of calls by the codes of the bus (bus §2). A function that failed was called. */
const outcomes: Readonly<Record<string, Awaited<ReturnType<Fire>>>> = {
  invocation_failed: "delivered",
  function_not_found: "absent",
};

const messageOf = ({ definition: { id, description } }: TriggerType) => ({ id, description });
