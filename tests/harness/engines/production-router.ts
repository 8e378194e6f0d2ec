/** The embedded engine with the behaviour of a version of the production engine, for tests. */
import type { Profile, WorkerConnection } from "../../../src/embedded-engine/connection.ts";
import { type Engine, type EngineOptions, startEngine } from "../../../src/embedded-engine/engine.ts";
import type { Frame, FrameOf, Json } from "../../../src/embedded-engine/frames.ts";
import { type Invocation, Invocations, stopped } from "../../../src/embedded-engine/invocations.ts";
import { defaultNamespace, type OwnedEntry } from "../../../src/embedded-engine/owned.ts";
import { type Builtin, Router } from "../../../src/embedded-engine/router.ts";
import { type Deliver, type DeliveryOrder, deliveryOf } from "./delivery.ts";

/** Behaviour in which versions of the production engine differ, or which it shows only sometimes. */
export interface Behaviour {
  /**
   * The version of iii. With "0.22", the default, the last registration of an id wins, and the engine names
   * any worker that has registered a function as its owner. With "0.23" there are namespaces; a function
   * stays with its first owner, and a worker with the name of a connected one is sent
   * `registrationrejected` and closed.
   */
  readonly version?: "0.22" | "0.23";
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
  /** Functions of the engine by their ids, which replace its own, for an engine that fails. */
  readonly builtins?: ReadonlyMap<string, Builtin>;
}

/** Starts an engine that behaves so. Rejects like `startEngine`. */
export function startProduction({
  version = "0.22",
  delivery = "in-order",
  seed = 1,
  loseAnswersWithinMilliseconds = 0,
  builtins = new Map(),
  ...options
}: EngineOptions & Behaviour = {}): Promise<Engine> {
  const deliver = deliveryOf(delivery, seed);
  const invocations = new LosingInvocations(loseAnswersWithinMilliseconds);
  const router = version === "0.22" ? new Router22(deliver, invocations) : new Router23(deliver, invocations);
  for (const [id, builtin] of builtins) router.builtins.set(id, builtin);
  return startEngine({ ...options, router });
}

class LosingInvocations extends Invocations {
  readonly #loseWithin: number;
  readonly #sentAt = new Map<string, number>();

  constructor(loseWithin: number) {
    super();
    this.#loseWithin = loseWithin;
  }

  override add(id: string, invocation: Invocation): void {
    if (this.#loseWithin > 0) this.#sentAt.set(id, performance.now());
    super.add(id, invocation);
  }

  override settle(...[id, outcome]: Parameters<Invocations["settle"]>): void {
    const sentAt = this.#sentAt.get(id);
    if (sentAt === undefined || performance.now() - sentAt >= this.#loseWithin) super.settle(id, outcome);
  }
}

class ProductionRouter extends Router {
  readonly #deliver: Deliver;

  constructor(deliver: Deliver, invocations: Invocations) {
    super(invocations);
    this.#deliver = deliver;
  }

  override route(...[call, caller, settle]: Parameters<Router["route"]>): void {
    this.#deliver(() => super.route(call, caller, settle));
  }

  /** Sends a call some time after its function was found, which the worker may have unregistered since. */
  protected override forward(...[call, invocation]: Parameters<Router["forward"]>): void {
    this.#deliver(() => {
      if (this.workers.has(invocation.server)) super.forward(call, invocation);
      else invocation.settle({ error: stopped });
    });
  }
}

/** Reports as a function's owner another worker that has registered it, wherever there is one. */
class Router22 extends ProductionRouter {
  readonly #registered = new Map<string, Set<WorkerConnection>>();

  override ownerOf(entry: OwnedEntry<FrameOf<"registerfunction">>): string {
    const all = this.#registered.get(entry.value.id) ?? [];
    const other = [...all].find((worker) => worker !== entry.owner && this.workers.has(worker));
    return other?.name ?? super.ownerOf(entry);
  }

  protected override registerFunction(worker: WorkerConnection, frame: FrameOf<"registerfunction">): void {
    const all = this.#registered.get(frame.id) ?? new Set();
    this.#registered.set(frame.id, all.add(worker));
    super.registerFunction(worker, frame);
  }
}

/** The milliseconds that registrations wait for their worker to name its namespace. */
const graceMilliseconds = 5000;

const registrations: readonly Frame["type"][] = [
  "registerfunction",
  "unregisterfunction",
  "registertriggertype",
  "registertrigger",
];

class Router23 extends ProductionRouter {
  /** The registrations of workers that have not named their namespace. */
  readonly #waiting = new Map<WorkerConnection, { frames: Frame[]; grace: ReturnType<typeof setTimeout> }>();

  override targetOf({ namespace }: { readonly namespace?: Json | undefined }): string {
    return typeof namespace === "string" ? namespace : defaultNamespace;
  }

  protected override homeOf({ profile }: WorkerConnection): string {
    return this.targetOf(profile);
  }

  protected override notFound(id: string, namespace: string): string {
    const known = this.functions.namespacesOf(id).join(", ");
    const hint = known === "" ? "" : ` It is registered in namespace(s): ${known}.`;
    return `Function ${id} not found in namespace ${namespace}.${hint}`;
  }

  protected override providedForm(frame: FrameOf<"registertrigger">): FrameOf<"registertrigger"> {
    return frame.namespace === defaultNamespace ? super.providedForm(frame) : frame;
  }

  override join(worker: WorkerConnection): void {
    const grace = setTimeout(() => this.#resolve(worker), graceMilliseconds);
    grace.unref();
    this.#waiting.set(worker, { frames: [], grace });
    super.join(worker);
  }

  override leave(worker: WorkerConnection): void {
    clearTimeout(this.#waiting.get(worker)?.grace);
    this.#waiting.delete(worker);
    super.leave(worker);
  }

  override receive(worker: WorkerConnection, frame: Frame): void {
    const waiting = registrations.includes(frame.type) ? this.#waiting.get(worker) : undefined;
    if (waiting === undefined) super.receive(worker, frame);
    else waiting.frames.push(frame);
  }

  override describe(worker: WorkerConnection, profile: Profile): void {
    const { name } = profile;
    const home = this.targetOf(profile);
    const owner = [...this.workers].find(
      (other) => other !== worker && other.name === name && this.homeOf(other) === home,
    );
    if (typeof name === "string" && owner !== undefined) {
      worker.send(rejection("WORKER_NAMESPACE_CONFLICT", { namespace: home, worker_name: name }, owner));
      this.leave(worker);
      worker.close();
      return;
    }
    super.describe(worker, profile);
    this.#resolve(worker);
  }

  protected override registerFunction(worker: WorkerConnection, frame: FrameOf<"registerfunction">): void {
    const home = this.homeOf(worker);
    const owner = this.functions.get(frame.id, home)?.owner;
    if (owner === undefined || owner === worker) super.registerFunction(worker, frame);
    else
      worker.send(
        rejection("FUNCTION_NAMESPACE_CONFLICT", { namespace: home, function_id: frame.id }, owner),
      );
  }

  #resolve(worker: WorkerConnection): void {
    const { frames = [], grace } = this.#waiting.get(worker) ?? {};
    clearTimeout(grace);
    this.#waiting.delete(worker);
    for (const frame of frames) super.receive(worker, frame);
  }
}

const rejection = (
  code: string,
  what: { namespace: string } & ({ worker_name: string } | { function_id: string }),
  owner: WorkerConnection,
): FrameOf<"registrationrejected"> => ({
  type: "registrationrejected",
  code,
  ...what,
  owner_worker_id: owner.id,
});
