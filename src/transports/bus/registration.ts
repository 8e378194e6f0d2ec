/**
 * Checks that the engine sends calls of this worker's functions to it. In an engine of 0.22 the last
 * registration of an id wins, and the id disappears when that worker ends; one of 0.23 refuses the second
 * worker. Neither notifies the first, and 0.22 names any worker that has registered a function as its owner.
 * So this worker calls each of its functions with a number that only it knows, and sees whether it arrives.
 */
import { randomUUID } from "node:crypto";
import type { Log } from "../../base/log/log.ts";
import { type Bus, callIn, slowDown, watch } from "./bus.ts";

export interface RegistrationOptions {
  readonly bus: Bus;
  readonly namespace: string | undefined;
  readonly ids: readonly string[];
  /** Registers functions again that the engine has lost. */
  register(ids: readonly string[]): void;
  unregister(): void;
  readonly log: Log;
  /** The milliseconds between two queries; by default 30 s. */
  readonly intervalMilliseconds?: number | undefined;
  /** The pauses between the queries after a connect, until the functions are registered. */
  readonly settlingMilliseconds?: readonly number[] | undefined;
}

/**
 * The default pauses. An engine handles the registration of the worker and of its functions concurrently with
 * the queries after it.
 */
const defaultSettling = [50, 100, 200, 400, 800];
const defaultInterval = 30_000;

/** The owners of the functions, if calls of them show these. */
interface Findings {
  /** The functions that it does not know. */
  readonly missing: readonly string[];
  /** Whether the engine lost a call, so that nothing is known of its function. */
  readonly isPartial: boolean;
  /** The worker that has the functions instead. */
  readonly rival?: { readonly pid: number | undefined };
  /**
   * The worker that should get all functions if several workers have some: the one with the first function.
   * Absent if only one has any.
   */
  readonly shared?: "ours" | "another's";
}

/**
 * The number of times that this worker tries to get all functions, or to leave them all to another, before
 * the next interval.
 */
const attempts = 4;

/** Watches a worker's registration, from the first connection until stopped. */
export class Registration {
  /** Resolves when the functions are first found registered. */
  readonly confirmed: Promise<void>;
  readonly #options: RegistrationOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #confirm: () => void = () => {};
  #isConfirmed = false;
  #standing: "open" | "ours" | "lost" | "another's" | "stopped" = "open";
  /** Counts connections. An answer over one says nothing about the next. */
  #connection = 0;
  #isOpen = false;
  /** The connection whose query is in flight. */
  #inspected: number | undefined;
  /** The probes that are under way, with the functions to call when they arrive here. */
  readonly #probes = new Map<string, () => void>();

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.confirmed = new Promise((resolve) => {
      this.#confirm = resolve;
    });
    watch(options.bus, {
      opened: () => {
        this.#isOpen = true;
        this.#connection++;
        void this.#inspect(true);
      },
      closed: () => this.#lose(),
      refused: () => this.#yieldTo(undefined),
    });
    const poll = () => {
      if (this.#isOpen && this.#inspected !== this.#connection) void this.#inspect(false);
    };
    this.#timer = setInterval(poll, options.intervalMilliseconds ?? defaultInterval);
    this.#timer.unref();
  }

  /**
   * Returns the answer for a probe, of this worker or another one, or `undefined` for any other payload. A
   * probe is a text, which every function that does not know it refuses, whatever its version.
   */
  answer(payload: unknown): ProbeAnswer | undefined {
    if (typeof payload !== "string" || !payload.startsWith(probePrefix)) return undefined;
    this.#probes.get(payload)?.();
    return { probe: payload, pid: process.pid };
  }

  /** Stops the queries to the engine, and their log. */
  stop(): void {
    this.#standing = "stopped";
    this.#connection++;
    clearInterval(this.#timer);
  }

  /** Queries the engine, registers missing functions, and acts on the findings. */
  async #inspect(isFresh: boolean): Promise<void> {
    const connection = this.#connection;
    const isOver = () => this.#connection !== connection || !this.#isOpen;
    this.#inspected = connection;
    let findings = await (isFresh ? this.#settled(isOver) : this.#query());
    for (let attempt = 0; attempt < attempts && needsRepair(findings) && !isOver(); attempt++) {
      this.#repair(findings, attempt);
      findings = await this.#settled(isOver);
    }
    if (isOver()) return;
    this.#inspected = undefined;
    if (findings.rival !== undefined) this.#yieldTo(findings.rival.pid);
    else if (isComplete(findings)) this.#keep();
  }

  #repair({ missing, shared }: Findings, attempt: number): void {
    // At first the other one may be in the middle of registering.
    if (shared === "another's" && attempt > 0) this.#options.unregister();
    if (shared === "another's" || missing.length === 0) return;
    this.#options.register(missing);
    this.#options.log.warn("functions were gone, registered again", { functions: missing.length });
  }

  /** Queries until every function is registered, or until the last attempt. */
  async #settled(isOver: () => boolean): Promise<Findings> {
    let findings = await this.#query();
    for (const pause of this.#options.settlingMilliseconds ?? defaultSettling) {
      if (isOver() || (isComplete(findings) && findings.rival === undefined)) break;
      await new Promise((resolve) => setTimeout(resolve, pause).unref());
      if (!isOver()) findings = await this.#query();
    }
    return findings;
  }

  #keep(): void {
    if (this.#standing === "ours") return;
    this.#standing = "ours";
    slowDown(this.#options.bus, false);
    if (this.#isConfirmed) this.#options.log.info("registered again");
    this.#isConfirmed = true;
    this.#confirm();
  }

  #yieldTo(pid: number | undefined): void {
    slowDown(this.#options.bus, true);
    if (this.#standing === "another's" || this.#standing === "stopped") return;
    this.#standing = "another's";
    const family = this.#options.ids[0]?.split("::", 1)[0];
    const who = pid === undefined ? "" : ` (pid ${pid})`;
    this.#options.log.error(
      `another worker serves ${family}::* on this engine${who}; nothing is served here`,
    );
  }

  #lose(): void {
    this.#isOpen = false;
    if (this.#standing !== "ours") return;
    this.#standing = "lost";
    this.#options.log.warn("connection lost");
  }

  async #query(): Promise<Findings> {
    const { ids } = this.#options;
    const owners = await Promise.all(ids.map(async (id) => ({ id, owner: await this.#ownerOf(id) })));
    const missing = owners.filter(({ owner }) => owner === "none").map(({ id }) => id);
    const isPartial = owners.some(({ owner }) => owner === "lost");
    const rival = owners.find(({ owner }) => typeof owner === "object");
    if (typeof rival?.owner !== "object") return { missing, isPartial };
    const hasSome = owners.some(({ owner }) => owner === "this");
    const shared = typeof owners[0]?.owner === "object" ? "another's" : "ours";
    return { missing, isPartial, rival: rival.owner, ...((hasSome || missing.length > 0) && { shared }) };
  }

  /** Calls the function with a new number, and returns who got it. Its arrival here needs no answer. */
  async #ownerOf(id: string): Promise<Owner> {
    const { bus, namespace } = this.#options;
    const probe = `${probePrefix}${randomUUID()}`;
    const arrived = new Promise<Owner>((resolve) => {
      this.#probes.set(probe, () => resolve("this"));
    });
    const request = { function_id: id, payload: probe, timeoutMs: answerMilliseconds };
    const answered = callIn(bus, namespace, request).then(ownerThatAnswered, ownerThatFailed);
    try {
      return await Promise.race([arrived, answered]);
    } finally {
      this.#probes.delete(probe);
    }
  }
}

/** The owner of a function: this worker, another one, none, or "lost" if the call was. */
type Owner = "this" | "none" | "lost" | { readonly pid: number | undefined };

/** The answer of a worker that got a probe. */
interface ProbeAnswer {
  readonly probe: string;
  readonly pid: number;
}

const probePrefix = "coder-registration:";

function ownerThatAnswered(answer: unknown): Owner {
  const { pid } = (answer ?? {}) as { readonly pid?: unknown };
  return { pid: typeof pid === "number" ? pid : undefined };
}

function ownerThatFailed(error: unknown): Owner {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (code === "function_not_found") return "none";
  // A worker of another version refuses the text.
  if (code === "invocation_failed") return { pid: undefined };
  // An engine that forbids the call is believed to have taken the registration.
  return lostCodes.includes(code) ? "lost" : "this";
}

/** The codes of a call that got no answer, or whose worker has gone (bus §2). */
const lostCodes: readonly unknown[] = ["TIMEOUT", "invocation_stopped", "invocation_error"];

const isComplete = ({ missing, isPartial }: Findings): boolean => missing.length === 0 && !isPartial;

const needsRepair = ({ missing, shared }: Findings): boolean => missing.length > 0 || shared !== undefined;

const answerMilliseconds = 10_000;
