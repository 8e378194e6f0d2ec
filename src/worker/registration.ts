/**
 * Checks that the engine assigns this worker's functions to it. In an engine of 0.22 the last registration of
 * an id wins, and the id disappears when that worker ends; one of 0.23 refuses the second worker. Neither
 * notifies the first.
 */

import type { Log } from "../log/log.ts";
import { type Bus, slowDown, watch } from "./bus.ts";

export interface RegistrationOptions {
  readonly bus: Bus;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The function ids, at most 32, which is the maximum that an engine describes in one answer. */
  readonly ids: readonly string[];
  /** Registers lost functions again. */
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
const usualSettling = [50, 100, 200, 400, 800];
const usualInterval = 30_000;

/** The engine's answer. An engine that cannot answer leaves both out. */
interface Findings {
  /** The functions that it does not know. */
  readonly missing: readonly string[];
  /** The worker that has the functions or the name instead. */
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
    this.#timer = setInterval(poll, options.intervalMilliseconds ?? usualInterval);
    this.#timer.unref();
  }

  /** Stops querying and logging. */
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
    else if (findings.missing.length === 0) this.#keep();
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
    for (const pause of this.#options.settlingMilliseconds ?? usualSettling) {
      if (isOver() || (findings.missing.length === 0 && findings.rival === undefined)) break;
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
    const { ids, name } = this.#options;
    const [functions, pid] = await Promise.all([
      this.#call("engine::functions::info", { function_ids: ids }),
      this.#pidOf(name),
    ]);
    const rows = rowsOf(functions);
    const missing = rows
      .filter(({ error }) => error === "not_found")
      .map(({ function_id: id }) => String(id));
    const others = rows.filter(({ worker_name: of }) => typeof of === "string" && of !== name);
    const [other] = others;
    if (other !== undefined) {
      const hasSome = rows.some(({ worker_name: of }) => of === name);
      const shared = others.some(({ function_id: id }) => id === ids[0]) ? "another's" : "ours";
      return {
        missing,
        rival: { pid: await this.#pidOf(String(other.worker_name)) },
        ...((hasSome || missing.length > 0) && { shared }),
      };
    }
    return pid === undefined || pid === process.pid ? { missing } : { missing, rival: { pid } };
  }

  async #pidOf(name: string): Promise<number | undefined> {
    const { worker } = ((await this.#call("engine::workers::info", { name })) ?? {}) as { worker?: unknown };
    const { pid } = (worker ?? {}) as { readonly pid?: unknown };
    return typeof pid === "number" ? pid : undefined;
  }

  /** Returns the answer, or `undefined` if the engine does not know the function, or fails. */
  async #call(id: string, payload: object): Promise<unknown> {
    const { bus, namespace } = this.#options;
    try {
      return await bus.trigger({
        function_id: id,
        payload: { ...payload, namespace },
        timeoutMs: answerMilliseconds,
      });
    } catch {
      return undefined;
    }
  }
}

const needsRepair = ({ missing, shared }: Findings): boolean => missing.length > 0 || shared !== undefined;

const answerMilliseconds = 10_000;

type FunctionRow = Readonly<Partial<Record<"function_id" | "worker_name" | "error", unknown>>>;

function rowsOf(answer: unknown): readonly FunctionRow[] {
  const { functions } = (answer ?? {}) as { readonly functions?: unknown };
  return Array.isArray(functions) ? functions.filter((row) => typeof row === "object" && row !== null) : [];
}
