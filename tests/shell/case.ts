import { expect } from "bun:test";
import { failureOf } from "./errors.ts";
import type { Around, Config, Outcome, Served } from "./served.ts";

/** One case of the table in section 12 of the specification of shell. */
export interface Case {
  /** Its number there. */
  readonly number: number;
  readonly name: string;
  /** Keys of the configuration that differ from the end-to-end one. */
  readonly config: Config;
  readonly around: Around;
  /** It waits for a limit of half a minute. */
  readonly isSlow?: boolean;
  run(served: Served): Promise<void>;
}

/** Cases of one configuration, made by a table of short calls. */
export class Cases {
  readonly all: Case[] = [];
  readonly #config: Config;
  readonly #around: Around;
  readonly #functionId: string;

  constructor(functionId: string, config: Config = {}, around: Around = {}) {
    this.#functionId = functionId;
    this.#config = config;
    this.#around = around;
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

  script(number: number, name: string, run: Case["run"]): this {
    this.all.push({ number, name: name.slice(0, 100), config: this.#config, around: this.#around, run });
    return this;
  }

  /** The same cases, each of which waits for a limit of half a minute. */
  slow(): readonly Case[] {
    return this.all.map((one) => ({ ...one, isSlow: true }));
  }
}

/** The answer of a call that has one. */
export function answerOf(outcome: Outcome): Record<string, unknown> {
  if (outcome.error !== undefined) throw new Error(`refused: ${outcome.error.message}`);
  return outcome.answer as Record<string, unknown>;
}

export function expectPlain(outcome: Outcome, ...words: (string | RegExp)[]): void {
  const { code, message } = failureOf(outcome);
  expect({ code, message }).toEqual({ code: undefined, message });
  for (const word of words) expect(message).toMatch(word);
}

export function expectCode(outcome: Outcome, code: string, ...words: string[]): void {
  const failure = failureOf(outcome);
  expect(failure).toEqual({ code, message: failure.message });
  for (const word of words) expect(failure.message).toContain(word);
}

const patience = 10_000;

/** Looks again and again until `look` gives something. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new Error("waited in vain");
    await Bun.sleep(20);
  }
}

/** A job's record once it is no longer running. */
export const ended = (served: Served, id: unknown): Promise<Record<string, unknown>> =>
  until(async () => {
    const { job } = answerOf(await served.call("shell::status", { job_id: id })) as {
      job: Record<string, unknown>;
    };
    return job["status"] === "running" ? undefined : job;
  });
