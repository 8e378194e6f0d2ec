import { randomUUID } from "node:crypto";
import { baggageFor, maxBaggageLength } from "./baggage.ts";
import type { Profile, WorkerConnection } from "./connection.ts";
import { type Frame, type FrameOf, isRecord, type Json, type Payload, WrittenJson } from "./frames.ts";
import { EngineFailure, type Invocation, type InvocationOutcome, Invocations } from "./invocations.ts";
import { defaultNamespace, Owned, type OwnedEntry } from "./owned.ts";

/** A function of the engine itself. Throws an `EngineFailure` to answer with an error. */
export type Builtin = (input: Json, caller: WorkerConnection | undefined) => Json;

/** A call to route, by a worker or by the engine. */
export type RoutedCall = Pick<
  FrameOf<"invokefunction">,
  "invocation_id" | "function_id" | "data" | "traceparent" | "baggage" | "metadata" | "namespace"
>;

/**
 * Holds the connected workers and their registrations, and routes calls between them as iii 0.22 does. It
 * knows nothing of sockets. The protected methods are what other versions of the production engine do
 * differently.
 */
export class Router {
  readonly workers = new Set<WorkerConnection>();
  readonly functions = new Owned<FrameOf<"registerfunction">>();
  readonly triggerTypes = new Owned<FrameOf<"registertriggertype">>();
  readonly triggers = new Owned<FrameOf<"registertrigger">>();
  readonly invocations: Invocations;
  readonly builtins = new Map<string, Builtin>();
  readonly #awaited = new Map<string, (() => void)[]>();

  constructor(invocations = new Invocations()) {
    this.invocations = invocations;
  }

  /** Returns the namespace that a frame or an input of an engine function names. */
  targetOf(_named: { readonly namespace?: Json | undefined }): string {
    return defaultNamespace;
  }

  /** Returns the name of the worker that the engine reports as the owner of a function. */
  ownerOf({ owner, value: { id } }: OwnedEntry<FrameOf<"registerfunction">>): string {
    return owner.name ?? firstSegment(id);
  }

  /** Returns the namespace of a worker's own registrations. */
  protected homeOf(_worker: WorkerConnection): string {
    return defaultNamespace;
  }

  /** Returns the sentence for a call of a function that does not exist there. */
  protected notFound(id: string, _namespace: string): string {
    return `Function ${id} not found`;
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

  /** Records a worker's description of itself. */
  describe(worker: WorkerConnection, profile: Profile): void {
    worker.profile = profile;
  }

  /** Handles a frame of a worker. */
  receive(worker: WorkerConnection, frame: Frame): void {
    switch (frame.type) {
      case "registerfunction":
        this.registerFunction(worker, frame);
        break;
      case "unregisterfunction":
        this.functions.remove(worker, frame.id, this.homeOf(worker));
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
    const { function_id: id } = call;
    const builtin = this.builtins.get(id);
    const namespace = this.targetOf(call);
    const server = this.functions.get(id, namespace)?.owner;
    if (builtin !== undefined) settle(outcomeOf(() => builtin(inputOf(call.data), caller)));
    else if (server === undefined) settle(failure("function_not_found", this.notFound(id, namespace)));
    else this.forward(call, { server, caller, settle });
  }

  /** Returns the triggers whose type some worker provides: all, or those that `owner` registered. */
  activeTriggers(owner?: WorkerConnection): OwnedEntry<FrameOf<"registertrigger">>[] {
    return this.triggers.list(owner).filter((trigger) => this.#providerOf(trigger));
  }

  /** Calls `callback` once the function is registered, or now if it already is. */
  whenRegistered(id: string, callback: () => void): void {
    if (this.functions.namespacesOf(id).length > 0) callback();
    else this.#awaited.set(id, [...(this.#awaited.get(id) ?? []), callback]);
  }

  /** Sends a call to the worker that serves it. */
  protected forward(call: RoutedCall, invocation: Invocation): void {
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

  protected registerFunction(worker: WorkerConnection, frame: FrameOf<"registerfunction">): void {
    this.functions.put(worker, frame, this.homeOf(worker));
    const callbacks = this.#awaited.get(frame.id) ?? [];
    this.#awaited.delete(frame.id);
    for (const callback of callbacks) callback();
  }

  #invoke(worker: WorkerConnection, frame: FrameOf<"invokefunction">): void {
    const { function_id, action, traceparent } = frame;
    const baggage = (frame.baggage?.length ?? 0) <= maxBaggageLength ? frame.baggage : undefined;
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
    else this.route({ ...frame, invocation_id, baggage }, worker, answer);
  }

  /** Registers a trigger type. A provider that registers again gets the triggers that waited for it. */
  #registerTriggerType(worker: WorkerConnection, frame: FrameOf<"registertriggertype">): void {
    this.triggerTypes.put(worker, frame, this.homeOf(worker));
    for (const trigger of this.triggers.list())
      if (this.#providerOf(trigger) === worker) worker.send(this.providedForm(trigger.value));
  }

  /** Returns the worker that provides the type of a trigger: one of the namespace of its owner, if any. */
  #providerOf({ owner, value }: OwnedEntry<FrameOf<"registertrigger">>): WorkerConnection | undefined {
    const { trigger_type: type } = value;
    const provided = this.triggerTypes.get(type, this.homeOf(owner)) ?? this.triggerTypes.get(type);
    return provided?.owner;
  }

  /** Returns a trigger as its provider is sent it. */
  protected providedForm({ namespace: _, ...frame }: FrameOf<"registertrigger">): FrameOf<"registertrigger"> {
    return frame;
  }

  /**
   * Forwards a trigger to the worker that provides its type, now or when that registers. The engine itself
   * runs no triggers.
   */
  #registerTrigger(worker: WorkerConnection, frame: FrameOf<"registertrigger">): void {
    this.triggers.put(worker, frame);
    this.#providerOf(this.triggers.get(frame.id)!)?.send(this.providedForm(frame));
  }

  #reportTrigger(provider: WorkerConnection, frame: FrameOf<"triggerregistrationresult">): void {
    const trigger = this.triggers.get(frame.id);
    if (trigger !== undefined && this.#providerOf(trigger) === provider) trigger.owner.send(frame);
  }

  #releaseTrigger(trigger: OwnedEntry<FrameOf<"registertrigger">> | undefined): void {
    if (trigger === undefined) return;
    const { id, trigger_type } = trigger.value;
    this.#providerOf(trigger)?.send({ type: "unregistertrigger", id, trigger_type });
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

/** Maximum length of the input of an engine function, which works in one step. */
const maxInputLength = 512 * 1024;

/** Returns the value of an engine function's input. */
function inputOf(data: Payload): Json {
  if (!(data instanceof WrittenJson)) return data;
  if (data.text.length <= maxInputLength) return data.parse();
  throw new EngineFailure({
    code: "deserialization_error",
    message: `the input of an engine function may have ${maxInputLength} characters`,
  });
}

/** Adds the caller's id to a payload that is an object, and replaces a forged one. */
function withCaller(data: Payload, caller: WorkerConnection | undefined): Payload {
  if (caller === undefined) return data;
  if (isRecord(data)) return { ...data, _caller_worker_id: caller.id };
  if (!(data instanceof WrittenJson) || !data.text.startsWith("{")) return data;
  const comma = /^\{\s*\}$/.test(data.text) ? "" : ",";
  // A forged id comes first, and readers keep the last value of a name.
  return new WrittenJson(`${data.text.slice(0, -1)}${comma}"_caller_worker_id":"${caller.id}"}`);
}

/** Returns the first part of an id, which stands for the name of a worker without one. */
export function firstSegment(id: string): string {
  return id.split("::", 1)[0] ?? id;
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
