/** Trigger types: a worker calls a function of another worker for each event (bus §9). */
import type { TSchema } from "@sinclair/typebox";

/** A trigger type in its form on the wire. */
export interface TriggerDefinition {
  readonly id: string;
  /** The version that added it. */
  readonly since: string;
  readonly description: string;
  /** The schema of a trigger's configuration. */
  readonly config: TSchema;
  /** The payload of the function that it calls. */
  readonly event: TSchema;
}

/**
 * Whether a function got an event: "delivered" even if it failed, "absent" if it does not exist, or
 * "unknown".
 */
export type EventOutcome = "delivered" | "absent" | "unknown";

/** An event that got no answer in time, and has been sent once more. */
export interface Redelivery {
  readonly outcome: Promise<EventOutcome>;
}

/**
 * Calls the function of a trigger. Resolves when it has answered, or when the event has been sent once more
 * because it has not. Never rejects.
 */
export type Fire = (event: object) => Promise<EventOutcome | Redelivery>;

/** A trigger type that is ready to accept triggers. */
export interface TriggerType {
  readonly definition: TriggerDefinition;
  /**
   * Calls `fire` from now on, one event after the other, or continues where an earlier trigger ended.
   * Resolves to a function that ends it and returns its position. Rejects with an Error of one sentence for
   * an invalid configuration.
   */
  open(config: unknown, fire: Fire, from?: string): Promise<() => string>;
}
