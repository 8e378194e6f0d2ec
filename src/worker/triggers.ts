/** Offers trigger types on the bus, and keeps the triggers that other workers register. */
import { isDeepStrictEqual } from "node:util";
import type { Fire, TriggerType } from "../contract/trigger.ts";
import type { Bus } from "./bus.ts";
import { refuseTrigger } from "./errors.ts";

/** Most triggers of all types together, and most that have ended of which it is known where. */
const mostTriggers = 256;

/** Milliseconds within which the function of a trigger has to answer. */
const fireMilliseconds = 10_000;

/** A trigger as the SDK has it. */
interface RegisteredTrigger {
  readonly id: string;
  readonly function_id: string;
  readonly config?: unknown;
  readonly metadata?: Record<string, unknown>;
}

interface OpenTrigger {
  readonly trigger: RegisteredTrigger;
  /** Resolves to what ends it, and returns where. */
  readonly end: Promise<() => string>;
}

export class Triggers {
  readonly #bus: Bus;
  readonly #types: readonly TriggerType[];
  readonly #open = new Map<string, OpenTrigger>();
  /** Where triggers ended, by their ids: their worker may have lost its connection, and register them again. */
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

  /** Calls no function any more. */
  async stop(): Promise<void> {
    for (const type of this.#types) this.#bus.unregisterTriggerType(messageOf(type));
    await Promise.all([...this.#open.keys()].map((id) => this.#remove(id)));
  }

  /** The engine sends a trigger again after each connect: then it goes on. */
  async #add(type: TriggerType, trigger: RegisteredTrigger): Promise<void> {
    const { id, config = {} } = trigger;
    const known = this.#open.get(id);
    if (known !== undefined && isDeepStrictEqual(known.trigger, trigger)) return;
    // Without a wait for a new one: the engine may send it twice, or take it back, before that ends.
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

/** What the codes of the bus say about a call (bus §2): a function that failed was called. */
const outcomes: Readonly<Record<string, Awaited<ReturnType<Fire>>>> = {
  invocation_failed: "delivered",
  function_not_found: "absent",
};

const messageOf = ({ definition: { id, description } }: TriggerType) => ({ id, description });
