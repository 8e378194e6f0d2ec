import { randomUUID } from "node:crypto";
import { baggageFor } from "./baggage.ts";
import type { Profile, WorkerConnection } from "./connection.ts";
import { type Deliver, type DeliveryOrder, deliveryOf } from "./delivery.ts";
import { type Frame, type FrameOf, isRecord, type Json } from "./frames.ts";
import { EngineFailure, type Invocation, type InvocationOutcome, Invocations } from "./invocations.ts";
import { Owned, type OwnedEntry } from "./owned.ts";

/** A function of the engine itself. Throws an `EngineFailure` to answer with an error. */
export type Builtin = (input: Json, caller: WorkerConnection | undefined) => Json;

/** A call to route, by a worker or by the engine. */
export type RoutedCall = Pick<
  FrameOf<"invokefunction">,
  "invocation_id" | "function_id" | "data" | "traceparent" | "baggage" | "metadata"
>;

/** Behaviour in which versions of the production engine differ, or which it shows only sometimes. */
export interface Behaviour {
  /** Whether calls of one client may overtake each other, as in production. Default: "in-order". */
  readonly delivery?: DeliveryOrder;
  /** The seed of the shuffle in out-of-order delivery. Default: 1. */
  readonly seed?: number;
  /**
   * The engine loses an answer that comes earlier than this after its call, so that its caller times out.
   * Default: 0. The production engine files the pending invocation after the call has left, about a
   * millisecond later.
   */
  readonly loseAnswersWithinMilliseconds?: number;
  /**
   * The effect of a second registration. "last-wins", the default, is that of iii 0.22. With "refuse", as in
   * 0.23, a function stays with its first owner, and a worker with the name of a connected one is sent
   * `registrationrejected` and closed.
   */
  readonly secondRegistration?: "last-wins" | "refuse";
}

/**
 * Holds the connected workers and their registrations, and routes calls between them. It knows nothing of
 * sockets.
 */
export class Router {
  readonly workers = new Set<WorkerConnection>();
  readonly functions = new Owned<FrameOf<"registerfunction">>();
  readonly triggerTypes = new Owned<FrameOf<"registertriggertype">>();
  readonly triggers = new Owned<FrameOf<"registertrigger">>();
  readonly invocations: Invocations;
  readonly builtins = new Map<string, Builtin>();
  readonly #awaited = new Map<string, (() => void)[]>();
  readonly #refusesSecond: boolean;
  readonly #deliver: Deliver;

  constructor(behaviour: Behaviour = {}) {
    this.invocations = new Invocations(behaviour.loseAnswersWithinMilliseconds ?? 0);
    this.#refusesSecond = behaviour.secondRegistration === "refuse";
    this.#deliver = deliveryOf(behaviour.delivery ?? "in-order", behaviour.seed ?? 1);
  }

  /** Adds a worker, and welcomes it. */
  join(worker: WorkerConnection): void {
    this.workers.add(worker);
    worker.send({ type: "workerregistered", worker_id: worker.id, reattach_token: worker.reattachToken });
  }

  /** Removes a worker and its registrations, and ends its calls. Idempotent. */
  leave(worker: WorkerConnection): void {
    if (!this.workers.delete(worker)) return;
    this.functions.removeAll(worker);
    this.triggerTypes.removeAll(worker);
    for (const trigger of this.triggers.removeAll(worker)) this.#releaseTrigger(trigger);
    this.invocations.stop(worker);
  }

  /**
   * Records a worker's description of itself, unless its name is taken and second registrations are refused.
   */
  describe(worker: WorkerConnection, profile: Profile): void {
    const { name } = profile;
    const owner = [...this.workers].find((other) => other !== worker && other.name === name);
    if (!this.#refusesSecond || typeof name !== "string" || owner === undefined) {
      worker.profile = profile;
      return;
    }
    worker.send(rejection("WORKER_NAMESPACE_CONFLICT", { worker_name: name }, owner));
    this.leave(worker);
    worker.close();
  }

  /** Handles a frame of a worker. */
  receive(worker: WorkerConnection, frame: Frame): void {
    switch (frame.type) {
      case "registerfunction":
        this.#registerFunction(worker, frame);
        break;
      case "unregisterfunction":
        this.functions.remove(worker, frame.id);
        break;
      case "registertriggertype":
        this.#registerTriggerType(worker, frame);
        break;
      case "registertrigger":
        this.#registerTrigger(worker, frame);
        break;
      case "unregistertrigger":
        this.#releaseTrigger(this.triggers.remove(worker, frame.id));
        break;
      case "triggerregistrationresult":
        this.#reportTrigger(worker, frame);
        break;
      case "invokefunction":
        this.#invoke(worker, frame);
        break;
      case "invocationresult":
        this.invocations.settle(frame.invocation_id, frame);
        break;
      case "reattach":
        this.#retire(frame);
        break;
      case "ping":
        worker.send({ type: "pong" });
        break;
    }
  }

  /** Delivers a call and settles it once: at once, with the answer, or when the serving worker leaves. */
  route(
    call: RoutedCall,
    caller: WorkerConnection | undefined,
    settle: (outcome: InvocationOutcome) => void,
  ): void {
    this.#deliver(() => this.#route(call, caller, settle));
  }

  #route(
    call: RoutedCall,
    caller: WorkerConnection | undefined,
    settle: (outcome: InvocationOutcome) => void,
  ): void {
    const builtin = this.builtins.get(call.function_id);
    const server = this.functions.get(call.function_id)?.owner;
    if (builtin !== undefined) settle(outcomeOf(() => builtin(call.data, caller)));
    else if (server === undefined)
      settle(failure("function_not_found", `Function ${call.function_id} not found`));
    else this.#forward(call, { server, caller, settle });
  }

  /** Returns the triggers whose type some worker provides: all, or those that `owner` registered. */
  activeTriggers(owner?: WorkerConnection): OwnedEntry<FrameOf<"registertrigger">>[] {
    return this.triggers.list(owner).filter(({ value }) => this.triggerTypes.get(value.trigger_type));
  }

  /** Calls `callback` once the function is registered, or now if it already is. */
  whenRegistered(id: string, callback: () => void): void {
    if (this.functions.get(id) !== undefined) callback();
    else this.#awaited.set(id, [...(this.#awaited.get(id) ?? []), callback]);
  }

  #forward(call: RoutedCall, invocation: Invocation): void {
    const { function_id, data, traceparent, baggage, metadata } = call;
    const invocation_id = call.invocation_id ?? randomUUID();
    this.invocations.add(invocation_id, invocation);
    const isTraced = traceparent !== undefined || baggage !== undefined;
    invocation.server.send({
      type: "invokefunction",
      invocation_id,
      function_id,
      data: withCaller(data, invocation.caller),
      traceparent,
      baggage: isTraced ? baggageFor(function_id, baggage) : undefined,
      metadata,
    });
  }

  #registerFunction(worker: WorkerConnection, frame: FrameOf<"registerfunction">): void {
    const owner = this.functions.get(frame.id)?.owner;
    if (this.#refusesSecond && owner !== undefined && owner !== worker) {
      worker.send(rejection("FUNCTION_NAMESPACE_CONFLICT", { function_id: frame.id }, owner));
      return;
    }
    this.functions.put(worker, frame);
    const callbacks = this.#awaited.get(frame.id) ?? [];
    this.#awaited.delete(frame.id);
    for (const callback of callbacks) callback();
  }

  #invoke(worker: WorkerConnection, frame: FrameOf<"invokefunction">): void {
    const { function_id, action, traceparent, baggage } = frame;
    // The engine chooses the id of a call without an answer.
    const invocation_id = action?.type === "void" ? undefined : frame.invocation_id;
    const answer = ({ result, error }: InvocationOutcome): void => {
      if (invocation_id === undefined) return;
      worker.send({
        type: "invocationresult",
        invocation_id,
        function_id,
        result,
        error,
        traceparent,
        baggage,
      });
    };
    if (action?.type === "enqueue") answer(failure("enqueue_error", "The embedded engine has no queues"));
    else this.route({ ...frame, invocation_id }, worker, answer);
  }

  /** Registers a trigger type. A provider that registers again gets the triggers that waited for it. */
  #registerTriggerType(worker: WorkerConnection, frame: FrameOf<"registertriggertype">): void {
    this.triggerTypes.put(worker, frame);
    for (const { value } of this.triggers.list()) if (value.trigger_type === frame.id) worker.send(value);
  }

  /**
   * Forwards a trigger to the worker that provides its type, now or when that registers. The engine itself
   * runs no triggers.
   */
  #registerTrigger(worker: WorkerConnection, frame: FrameOf<"registertrigger">): void {
    this.triggers.put(worker, frame);
    this.triggerTypes.get(frame.trigger_type)?.owner.send(frame);
  }

  #reportTrigger(provider: WorkerConnection, frame: FrameOf<"triggerregistrationresult">): void {
    if (this.triggerTypes.get(frame.trigger_type)?.owner !== provider) return;
    this.triggers.get(frame.id)?.owner.send(frame);
  }

  #releaseTrigger(trigger: OwnedEntry<FrameOf<"registertrigger">> | undefined): void {
    if (trigger === undefined) return;
    const { id, trigger_type } = trigger.value;
    this.triggerTypes.get(trigger_type)?.owner.send({ type: "unregistertrigger", id, trigger_type });
  }

  /**
   * Ends the previous connection of a worker that has reconnected with its token, whose end may not have been
   * noticed yet.
   */
  #retire({ previous_worker_id, reattach_token }: FrameOf<"reattach">): void {
    for (const worker of this.workers) {
      if (worker.id !== previous_worker_id || worker.reattachToken !== reattach_token) continue;
      this.leave(worker);
      worker.cut();
    }
  }
}

/** Adds the caller's id to a payload that is an object, and replaces a forged one. */
function withCaller(data: Json, caller: WorkerConnection | undefined): Json {
  return caller !== undefined && isRecord(data) ? { ...data, _caller_worker_id: caller.id } : data;
}

function rejection(
  code: string,
  what: { worker_name: string } | { function_id: string },
  owner: WorkerConnection,
): FrameOf<"registrationrejected"> {
  return { type: "registrationrejected", code, namespace: "default", ...what, owner_worker_id: owner.id };
}

function failure(code: string, message: string): InvocationOutcome {
  return { error: { code, message } };
}

function outcomeOf(run: () => Json): InvocationOutcome {
  try {
    return { result: run() };
  } catch (thrown) {
    if (thrown instanceof EngineFailure) return failure(thrown.code, thrown.message);
    throw thrown;
  }
}
