import { ConfigError, FixedKeyError } from "./file.ts";

/** The state of the configuration that callers may know. */
export interface ConfigState {
  /** The outcome of the newest attempt: the start, or a reload. */
  readonly outcome: "started" | "applied" | "rejected";
  /**
   * The reason why the newest reload was rejected, without host paths and values; `undefined` if it was not.
   */
  readonly error: string | undefined;
  readonly applied: number;
  readonly rejected: number;
}

/** Follows the reloads of the configuration of this process. */
export class ConfigStatus {
  #state: ConfigState = { outcome: "started", error: undefined, applied: 0, rejected: 0 };

  get state(): ConfigState {
    return this.#state;
  }

  noteApplied(): void {
    this.#state = { ...this.#state, outcome: "applied", error: undefined, applied: this.#state.applied + 1 };
  }

  noteRejected(error: unknown): void {
    const rejected = this.#state.rejected + 1;
    this.#state = { ...this.#state, outcome: "rejected", error: describe(error), rejected };
  }
}

/** Describes an error for callers. Its message names files of the host, so only the log contains that. */
function describe(error: unknown): string {
  if (error instanceof FixedKeyError)
    return `The key ${error.key} cannot change while the worker runs; restart it, or put the old value back. Nothing was changed.`;
  const what =
    error instanceof ConfigError && error.key !== undefined
      ? `The key ${error.key} of the changed configuration`
      : "The changed configuration";
  return `${what} cannot be used, and the worker goes on with the old one; its log says why.`;
}
