/** A worker whose configuration can be replaced while it serves. */

import type { Log } from "../base/log/log.ts";
import type { Runtime } from "../calls/contract/definition.ts";
import type { TriggerType } from "../calls/contract/trigger.ts";
import { createInvoke, type Invoke, type OnEnter } from "../calls/invoke.ts";
import { RunningCalls } from "../calls/running-calls.ts";
import type { Keys } from "../config/file.ts";
import { ConfigStatus } from "../config/status.ts";
import { closeAfterCalls } from "./lifecycle.ts";
import { type Opening, openWorker } from "./workers.ts";

/** The services of one configuration, and the calls that use them. */
interface Generation {
  readonly runtime: Runtime;
  readonly invoke: Invoke;
  readonly running: RunningCalls;
}

export class ReloadableWorker {
  /** Called when a function begins its work. */
  onEnter: OnEnter = () => {};
  readonly #opening: Opening;
  readonly #log: Log;
  readonly #status: ConfigStatus;
  /** Generations that a reload has replaced and that calls still use. */
  readonly #replaced = new Set<Generation>();
  /** The generations that are being closed, such as those whose commands have left many temporary files. */
  readonly #endings = new Set<Promise<number>>();
  /** Functions that reopen triggers with the current services. */
  readonly #reopeners = new Set<() => Promise<void>>();
  #current: Generation;
  #reloading: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(opening: Opening, log: Log, runtime: Runtime, status: ConfigStatus) {
    this.#opening = opening;
    this.#log = log;
    this.#status = status;
    this.#current = this.#generationOf(runtime);
  }

  /** Opens the worker. Throws an Error of one sentence if it cannot be opened. */
  static async open(opening: Opening, log: Log): Promise<ReloadableWorker> {
    const status = new ConfigStatus();
    return new ReloadableWorker(opening, log, await openWorker(opening, log, { status }), status);
  }

  /** The services that new calls get. */
  get runtime(): Runtime {
    return this.#current.runtime;
  }

  /**
   * The trigger types. A trigger continues with the services that a reload opens, and its function is
   * notified of that.
   */
  get triggers(): readonly TriggerType[] {
    return (this.runtime.triggers ?? []).map(({ definition }) => ({
      definition,
      open: (...trigger) => this.#openTrigger(definition.id, trigger),
    }));
  }

  /** The sizes held by the current services, by the names of metrics. Its values change. */
  get holds(): Readonly<Record<string, number>> {
    const read = (name: string) => this.runtime.holds?.[name] ?? 0;
    const names = Object.keys(this.runtime.holds ?? {});
    const getters = names.map((name) => [name, { enumerable: true, get: () => read(name) }] as const);
    return Object.defineProperties({}, Object.fromEntries(getters));
  }

  /** Runs a call, which finishes with the services it began with. */
  readonly invoke: Invoke = (...call) => this.#current.invoke(...call);

  /**
   * Reads the configuration again, and opens all services again. If that fails, it logs the reason, and the
   * old ones stay. Reloads run one after another. Never rejects.
   */
  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reloadOnce());
    return this.#reloading;
  }

  /** Lets calls finish until none has ended for `milliseconds`, then ends them. No reload begins then. */
  async stop(milliseconds: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#generations.map(({ running }) => running.stop(milliseconds)));
  }

  /** Ends all calls, and closes their services. Returns the number of calls that have not ended. */
  async close(): Promise<number> {
    this.#isClosed = true;
    await this.#reloading;
    let left = 0;
    for (const generation of this.#generations) left += await this.#end(generation);
    await Promise.all(this.#endings);
    return left;
  }

  get #generations(): readonly Generation[] {
    return [...this.#replaced, this.#current];
  }

  async #openTrigger(
    id: string,
    [config, fire, from]: Parameters<TriggerType["open"]>,
  ): Promise<() => string> {
    const open = (place?: string) =>
      this.runtime.triggers!.find(({ definition }) => definition.id === id)!.open(config, fire, place);
    const { runtime } = this;
    let end = await open(from);
    let place: string | undefined;
    let reopenings = 0;
    const reopen = async () => {
      const reopening = ++reopenings;
      // Another reload may come before it is open.
      const isNewest = () => reopening === reopenings && this.#reopeners.has(reopen);
      const ended = end();
      end = () => ended;
      const endAgain = await open(ended).catch((error: unknown) => {
        if (isNewest()) throw error;
      });
      if (isNewest()) end = endAgain!;
      else endAgain?.();
    };
    this.#reopeners.add(reopen);
    // It was opened with services that a reload has replaced since.
    if (this.runtime !== runtime) await reopen();
    return () => {
      this.#reopeners.delete(reopen);
      place ??= end();
      return place;
    };
  }

  async #reloadOnce(): Promise<void> {
    if (this.#isClosed) return;
    const before = this.#current;
    try {
      const { config } = before.runtime as { readonly config?: Keys };
      const runtime = await openWorker(this.#opening, this.#log, { status: this.#status, config });
      this.#current = this.#generationOf(runtime);
      this.#status.noteApplied();
      this.#log.info("reloaded", { ...runtime.serves });
      for (const reopen of this.#reopeners)
        void reopen().catch((error: unknown) =>
          this.#log.error("a trigger has ended", { reason: (error as Error).message }),
        );
    } catch (error) {
      this.#status.noteRejected(error);
      this.#log.error("the configuration was not reloaded", { reason: (error as Error).message });
      return;
    }
    this.#replaced.add(before);
    // A rollback may last longer than the call, and needs the folders.
    void before.running.idle().then(() => (this.#replaced.has(before) ? this.#end(before) : undefined));
  }

  #end(generation: Generation): Promise<number> {
    this.#replaced.delete(generation);
    const ending = closeAfterCalls(generation.runtime, generation.running);
    this.#endings.add(ending);
    return ending.finally(() => this.#endings.delete(ending));
  }

  #generationOf(runtime: Runtime): Generation {
    const onEnter: OnEnter = (...entered) => this.onEnter(...entered);
    const running = new RunningCalls();
    return { runtime, invoke: createInvoke(runtime, this.#log, { onEnter, running }), running };
  }
}
