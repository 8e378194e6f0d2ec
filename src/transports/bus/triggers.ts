/** Offers trigger types on the bus, and keeps the triggers that other workers register. */
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../../base/log/log.ts";
import { refuseTrigger } from "../../calls/admission-errors.ts";
import type { EventOutcome, Fire, TriggerType } from "../../calls/contract/trigger.ts";
import { type Bus, callIn, type RegisteredTrigger, registerTriggerType } from "./bus.ts";

/** Maximum triggers of all types together, and maximum ended triggers whose positions are kept. */
const maxTriggers = 256;

/** The milliseconds that the function of a trigger has to answer. */
const answerMilliseconds = 10_000;

/**
 * The default milliseconds after which an event without an answer is sent once more. The engine loses an
 * answer now and then, so the function has probably handled the event.
 */
const redeliveryMilliseconds = 1500;

interface OpenTrigger {
  readonly trigger: RegisteredTrigger;
  /** Resolves to the function that ends the trigger and returns its position. */
  readonly end: Promise<() => string>;
}

export class Triggers {
  readonly #bus: Bus;
  readonly #open = new Map<string, OpenTrigger>();
  /**
   * The positions of ended triggers, by their ids. A worker that lost its connection may register them again.
   */
  readonly #ended = new Map<string, string>();
  readonly #log: Log;
  readonly #redeliveryMilliseconds: number;
  #isStopped = false;

  /** Registers the types at the engine. `redelivery` replaces the default, for tests. */
  constructor(bus: Bus, types: readonly TriggerType[], log: Log, redelivery = redeliveryMilliseconds) {
    this.#bus = bus;
    this.#log = log;
    this.#redeliveryMilliseconds = redelivery;
    for (const type of types)
      registerTriggerType(bus, messageOf(type), {
        add: (trigger) => this.#add(type, trigger),
        remove: (id) => this.#remove(id),
      });
  }

  /**
   * Ends all triggers, so that no function is called afterwards. The types end with the connection: engines
   * know no message for that.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#open.keys()].map((id) => this.#remove(id)));
  }

  /** Opens a trigger. The engine sends it again after each connect, and a known one then continues. */
  async #add(type: TriggerType, trigger: RegisteredTrigger): Promise<void> {
    if (this.#isStopped) throw refuseTrigger.stopping();
    const { id, config = {} } = trigger;
    const known = this.#open.get(id);
    if (known !== undefined && isDeepStrictEqual(known.trigger, trigger)) return;
    // A new trigger is stored without a wait before, because the engine may send it twice, or take it back,
    // during the wait.
    if (known !== undefined) await this.#remove(id);
    if (this.#open.size >= maxTriggers) throw refuseTrigger.tooMany(maxTriggers);
    const end = type.open(config, this.#fireOf(trigger), this.#ended.get(id));
    this.#open.set(id, { trigger, end });
    await end.catch((error: unknown) => {
      if (this.#open.get(id)?.end === end) this.#open.delete(id);
      throw error;
    });
  }

  #fireOf({ id, function_id, metadata, namespace }: RegisteredTrigger): Fire {
    const more = metadata === undefined ? {} : { metadata };
    let isAbsent = false;
    const call = async (payload: object): Promise<EventOutcome> => {
      try {
        const request = { function_id, payload, timeoutMs: answerMilliseconds, ...more };
        await callIn(this.#bus, namespace, request);
        return "delivered";
      } catch (error) {
        return outcomes[(error as { readonly code?: string }).code ?? ""] ?? "unknown";
      }
    };
    const note = (delivery: EventOutcome): EventOutcome => {
      if (delivery === "absent" && !isAbsent)
        this.#log.warn("the function of a trigger does not exist; its events wait", {
          trigger: id,
          function: function_id,
          namespace,
        });
      if (delivery !== "unknown") isAbsent = delivery === "absent";
      return delivery;
    };
    return async (payload) => {
      const first = call(payload);
      const isAnswered = await endsWithin(this.#redeliveryMilliseconds, first);
      if (isAnswered) return note(await first);
      const second = call({ ...payload, redelivered: true });
      return { outcome: eitherOf(first, second).then(note) };
    };
  }

  async #remove(id: string): Promise<void> {
    const known = this.#open.get(id);
    this.#open.delete(id);
    const end = await known?.end.catch(() => undefined);
    if (end === undefined) return;
    this.#ended.set(id, end());
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > maxTriggers) this.#ended.delete(oldest!);
  }
}

/** Resolves to whether `work` ends within `milliseconds`. */
async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves to "delivered" when one of two calls of a function was answered, otherwise to the outcome of the
 * second.
 */
async function eitherOf(first: Promise<EventOutcome>, second: Promise<EventOutcome>): Promise<EventOutcome> {
  const answered = (delivery: Promise<EventOutcome>) =>
    delivery.then((outcome) => {
      if (outcome !== "delivered") throw new Error(outcome);
      return outcome;
    });
  return Promise.any([answered(first), answered(second)]).catch(() => second);
}

/** The outcomes of calls by the codes of the bus (bus §2). A function that failed was called. */
const outcomes: Readonly<Record<string, EventOutcome>> = {
  invocation_failed: "delivered",
  function_not_found: "absent",
};

const messageOf = ({ definition: { id, description } }: TriggerType) => ({ id, description });
