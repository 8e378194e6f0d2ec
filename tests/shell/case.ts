import { expect } from "bun:test";
import { shellErrorOf } from "./errors.ts";
import type { ClientOutcome, ConfigFields, ShellFixture, ShellOptions } from "./shell-fixture.ts";

/** One case of the table in section 12 of the shell specification. */
export interface ShellCase {
  /** Its number in the table. */
  readonly number: number;
  readonly name: string;
  /** Keys that differ from the configuration of the end-to-end cases. */
  readonly config: ConfigFields;
  readonly options: ShellOptions;
  /** Whether the case waits for a limit of half a minute. */
  readonly isSlow?: boolean;
  run(served: ShellFixture): Promise<void>;
}

/** Cases of one configuration, built by chained calls. */
export class ShellCases {
  readonly all: ShellCase[] = [];
  readonly #config: ConfigFields;
  readonly #options: ShellOptions;
  readonly #functionId: string;

  constructor(functionId: string, config: ConfigFields = {}, options: ShellOptions = {}) {
    this.#functionId = functionId;
    this.#config = config;
    this.#options = options;
  }

  /** Adds a call whose answer has at least these fields. */
  answers(number: number, payload: unknown, fields: object): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expect(answerOf(await served.call(this.#functionId, payload))).toMatchObject(fields);
    });
  }

  /** Adds a call that is refused in prose with these words. */
  refusesPlainly(number: number, payload: unknown, ...words: (string | RegExp)[]): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expectPlain(await served.call(this.#functionId, payload), ...words);
    });
  }

  /** Adds a call that is refused with a code and with words in its message. */
  refuses(number: number, payload: unknown, code: string, ...words: string[]): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expectCode(await served.call(this.#functionId, payload), code, ...words);
    });
  }

  script(number: number, name: string, run: ShellCase["run"]): this {
    this.all.push({ number, name: name.slice(0, 100), config: this.#config, options: this.#options, run });
    return this;
  }

  /** Returns the cases, marked as waiting for a limit of half a minute. */
  slow(): readonly ShellCase[] {
    return this.all.map((one) => ({ ...one, isSlow: true }));
  }
}

/** Returns the answer of a call. Throws if it was refused. */
export function answerOf(outcome: ClientOutcome): Record<string, unknown> {
  if (outcome.error !== undefined) throw new Error(`refused: ${outcome.error.message}`);
  return outcome.answer as Record<string, unknown>;
}

export function expectPlain(outcome: ClientOutcome, ...words: (string | RegExp)[]): void {
  const { code, message } = shellErrorOf(outcome);
  expect({ code, message }).toEqual({ code: undefined, message });
  for (const word of words) expect(message).toMatch(word);
}

export function expectCode(outcome: ClientOutcome, code: string, ...words: string[]): void {
  const failure = shellErrorOf(outcome);
  expect(failure).toEqual({ code, message: failure.message });
  for (const word of words) expect(failure.message).toContain(word);
}

const timeoutMilliseconds = 10_000;

/** Calls `poll` repeatedly until it returns a value. */
export async function waitFor<T>(poll: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = performance.now() + timeoutMilliseconds;
  for (;;) {
    const value = await poll();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error("waited in vain");
    await Bun.sleep(20);
  }
}

/** Resolves to the record of a job that no longer runs. */
export const waitForJob = (served: ShellFixture, id: unknown): Promise<Record<string, unknown>> =>
  waitFor(async () => {
    const { job } = answerOf(await served.call("shell::status", { job_id: id })) as {
      job: Record<string, unknown>;
    };
    return job["status"] === "running" ? undefined : job;
  });
