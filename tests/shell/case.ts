import { expect } from "bun:test";
import { shellErrorOf } from "./errors.ts";
import type { ClientOutcome, ConfigFields, ShellFixture, ShellOptions } from "./shell-fixture.ts";

/** One case of the table in section 12 of the specification of shell. */
export interface ShellCase {
  /** Its number there. */
  readonly number: number;
  readonly name: string;
  /** Keys of the configuration that differ from the end-to-end one. */
  readonly config: ConfigFields;
  readonly options: ShellOptions;
  /** It waits for a limit of half a minute. */
  readonly isSlow?: boolean;
  run(served: ShellFixture): Promise<void>;
}

/** Cases of one configuration, made by a table of short calls. */
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

  /** The call is answered with at least these fields. */
  answers(number: number, payload: unknown, fields: object): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expect(answerOf(await served.call(this.#functionId, payload))).toMatchObject(fields);
    });
  }

  /** The call is refused in prose that holds these words. */
  refusesPlainly(number: number, payload: unknown, ...words: (string | RegExp)[]): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expectPlain(await served.call(this.#functionId, payload), ...words);
    });
  }

  /** The call is refused with a code, and words in its message. */
  refuses(number: number, payload: unknown, code: string, ...words: string[]): this {
    return this.script(number, JSON.stringify(payload), async (served) => {
      expectCode(await served.call(this.#functionId, payload), code, ...words);
    });
  }

  script(number: number, name: string, run: ShellCase["run"]): this {
    this.all.push({ number, name: name.slice(0, 100), config: this.#config, options: this.#options, run });
    return this;
  }

  /** The same cases, each of which waits for a limit of half a minute. */
  slow(): readonly ShellCase[] {
    return this.all.map((one) => ({ ...one, isSlow: true }));
  }
}

/** The answer of a call that has one. */
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

/** Looks again and again until `look` gives something. */
export async function waitFor<T>(poll: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = performance.now() + timeoutMilliseconds;
  for (;;) {
    const value = await poll();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error("waited in vain");
    await Bun.sleep(20);
  }
}

/** A job's record once it is no longer running. */
export const waitForJob = (served: ShellFixture, id: unknown): Promise<Record<string, unknown>> =>
  waitFor(async () => {
    const { job } = answerOf(await served.call("shell::status", { job_id: id })) as {
      job: Record<string, unknown>;
    };
    return job["status"] === "running" ? undefined : job;
  });
