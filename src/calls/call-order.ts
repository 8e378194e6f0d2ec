/**
 * Makes the calls of one session take effect as if in the order of their arrival: a call begins when all
 * earlier calls have ended that touch the same parts of the tree, if one of the two writes. Other calls run
 * concurrently.
 */
import type { OrderedCall, Reach, Touch } from "./contract/origin.ts";
import { countLevels } from "./contract/request-paths.ts";
import { TouchedPaths } from "./touched-paths.ts";

/** A message that has arrived, with the calls in it. */
export interface Arrival {
  /**
   * Sets the number of calls in the message, if not one. The message may still be arriving when its place is
   * taken.
   */
  expect(calls: number): void;
  /** Returns the next of its calls. */
  call(): OrderedCall;
  /** Notes that no other call of the message comes. Harmless when repeated. */
  end(): void;
}

/**
 * Maximum touches that are determined in one step. Further calls touch the whole tree, because resolving
 * their paths as well would take long.
 */
const maxDetermined = 200;

/** Maximum levels of their paths. */
const maxDeterminedLevels = 8000;

export class CallOrder {
  /**
   * The messages with a call whose paths are unknown, and all later messages, in order of arrival.
   */
  readonly #arrivals = new Set<ArrivedMessage>();
  readonly #touched = new TouchedPaths<PlacedCall>();
  /**
   * The reading calls that began while no writing call was present, so that their paths have not been
   * determined yet.
   */
  readonly #readers = new Set<PlacedCall>();
  #writers = 0;
  /** The touches that have been determined in this step. */
  #determined = 0;
  /** The levels of their paths. */
  #levels = 0;

  /** Takes the next place for a message. */
  arrive(): Arrival {
    const arrival = new ArrivedMessage(this);
    this.#arrivals.add(arrival);
    return arrival;
  }

  /**
   * Places the known calls, up to the first message with an unknown call, because later ones may have to wait
   * for that. A further call of a completed message comes last.
   */
  advance(changed: ArrivedMessage): void {
    this.#arrivals.add(changed);
    this.#determined = 0;
    this.#levels = 0;
    for (const arrival of this.#arrivals) {
      for (const call of arrival.takeKnown()) this.#place(call);
      if (arrival.missing > 0) return;
      this.#arrivals.delete(arrival);
    }
  }

  /** Frees the paths of a placed call. */
  remove(call: PlacedCall): void {
    if (call.reach.writes) this.#writers--;
    if (!this.#readers.delete(call)) this.#touched.remove(call, call.touches);
  }

  #place(call: PlacedCall): void {
    const { writes } = call.reach;
    if (!writes && this.#writers === 0) {
      this.#readers.add(call);
      call.waitFor(none);
      return;
    }
    // A call that counts as the whole tree keeps later ones waiting, so a writing one comes before readers.
    const touches = this.#touchesOf(call);
    if (writes) {
      this.#writers++;
      for (const reader of this.#readers) this.#touched.add(reader, this.#touchesOf(reader));
      this.#readers.clear();
    }
    let blockers = this.#touched.blockers(touches);
    if ([...blockers].some(({ reach }) => reach.bringsLinks)) {
      call.touchEverything();
      blockers = this.#touched.blockers(call.touches);
    }
    call.waitFor(blockers);
    this.#touched.add(call, call.touches);
  }

  /** Determines the touches of a call, with its paths resolved unless that has been done for many. */
  #touchesOf(call: PlacedCall): readonly Touch[] {
    const resolves = this.#determined < maxDetermined && this.#levels < maxDeterminedLevels;
    const touches = call.determine({ resolves });
    this.#determined += touches.length;
    for (const { path } of touches) this.#levels += countLevels([path], maxDeterminedLevels);
    return touches;
  }
}

const none: ReadonlySet<PlacedCall> = new Set();

class ArrivedMessage implements Arrival {
  /** The number of calls that have not entered yet. */
  missing = 1;
  readonly #order: CallOrder;
  readonly #known = new Set<PlacedCall>();

  constructor(order: CallOrder) {
    this.#order = order;
  }

  expect(calls: number): void {
    this.missing = calls;
    this.#order.advance(this);
  }

  call(): PlacedCall {
    return new PlacedCall(this, this.#order);
  }

  end(): void {
    this.expect(0);
  }

  /** Adds a call whose paths are known. */
  enter(call: PlacedCall): void {
    this.#known.add(call);
    this.pass();
  }

  /** Counts a call that touches nothing, or will never begin. */
  pass(): void {
    this.missing = Math.max(0, this.missing - 1);
    this.#order.advance(this);
  }

  /** Forgets a call that stops waiting before it is placed. */
  forget(call: PlacedCall): void {
    this.#known.delete(call);
  }

  takeKnown(): PlacedCall[] {
    const known = [...this.#known];
    this.#known.clear();
    return known;
  }
}

class PlacedCall implements OrderedCall {
  reach: Reach = { writes: false, bringsLinks: false, touches: () => [] };
  #touches: readonly Touch[] | undefined;
  readonly #arrival: ArrivedMessage;
  readonly #order: CallOrder;
  #state: "outside" | "entered" | "placed" | "left" = "outside";
  /** The number of earlier calls that have to end first. */
  #blockers = 0;
  /** The later calls that wait for this one. */
  readonly #waiting = new Set<PlacedCall>();
  #begin: (() => void) | undefined;

  constructor(arrival: ArrivedMessage, order: CallOrder) {
    this.#arrival = arrival;
    this.#order = order;
  }

  get touches(): readonly Touch[] {
    return this.determine({ resolves: true });
  }

  /** Determines the touches, if that has not been done. */
  determine(options: { readonly resolves: boolean }): readonly Touch[] {
    this.#touches ??= this.reach.touches(options);
    return this.#touches;
  }

  /**
   * Lets this call touch the whole tree: it waits for one that may bring links, and where its paths lead
   * afterwards is unknown.
   */
  touchEverything(): void {
    this.#touches = [{ path: "", writes: this.reach.writes }];
  }

  enter(reach: Reach, cancelled?: AbortSignal): Promise<void> | undefined {
    this.reach = reach;
    this.#state = "entered";
    this.#arrival.enter(this);
    if (this.#isFree) return undefined;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.leave();
        reject(cancelled?.reason);
      };
      this.#begin = () => {
        cancelled?.removeEventListener("abort", leave);
        resolve();
      };
      if (cancelled?.aborted) leave();
      else cancelled?.addEventListener("abort", leave, { once: true });
    });
  }

  leave(): void {
    const state = this.#state;
    this.#state = "left";
    if (state === "outside") this.#arrival.pass();
    if (state === "entered") this.#arrival.forget(this);
    if (state !== "placed") return;
    this.#order.remove(this);
    for (const call of this.#waiting) call.#unblock();
    this.#waiting.clear();
  }

  waitFor(earlier: ReadonlySet<PlacedCall>): void {
    this.#state = "placed";
    this.#blockers = earlier.size;
    for (const call of earlier) call.#waiting.add(this);
    if (this.#isFree) this.#begin?.();
  }

  get #isFree(): boolean {
    return this.#state === "placed" && this.#blockers === 0;
  }

  #unblock(): void {
    this.#blockers--;
    if (this.#isFree) this.#begin?.();
  }
}
