/** Trigger types: what a worker calls a function of another one for, when something happens (bus §9). */
import type { TSchema } from "@sinclair/typebox";

/** A trigger type as it is on the wire. */
export interface TriggerDefinition {
  readonly id: string;
  /** The version that brought it. */
  readonly since: string;
  readonly description: string;
  /** What a trigger of this type is registered with. */
  readonly config: TSchema;
  /** The payload of the function that it calls. */
  readonly event: TSchema;
}

/**
 * Calls the function of a trigger. Resolves to whether it got the event: it did, even if it failed; it is not there; or that
 * is not known. Never rejects.
 */
export type Fire = (event: object) => Promise<"delivered" | "absent" | "unknown">;

/** A trigger type that is ready to take triggers. */
export interface TriggerType {
  readonly definition: TriggerDefinition;
  /**
   * Calls `fire` from now on, one event after the other, or from where an earlier one has ended. Resolves to what ends that, and
   * returns where. Rejects with an Error of one sentence for a configuration that does not fit.
   */
  open(config: unknown, fire: Fire, from?: string): Promise<() => string>;
}
