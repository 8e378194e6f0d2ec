import { createHash } from "node:crypto";
import { type ErrorCode, parseEntryError } from "../harness/errors.ts";
import type { Changes, Tree } from "../harness/tree.ts";

/** One call on one tree, with the promised outcome. */
export interface Case {
  readonly name: string;
  /** Configuration keys in addition to `base_path`. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly tree: Tree;
  readonly call: { readonly function: string; readonly payload: unknown };
  readonly expect: Expectation;
}

/** The answer or the error of the whole call, and its changes of the tree. Without `tree`, it makes none. */
export type Expectation = ({ readonly answer: unknown } | { readonly error: Failure }) & {
  readonly tree?: Changes;
};

/** An error: its code, and words that its message must contain, in upper or lower case. */
export interface Failure {
  readonly code: ErrorCode;
  readonly says: readonly string[];
}

/** A value in an expected answer that is compared by a predicate instead of by equality. */
export class Matcher {
  readonly description: string;
  readonly matches: (value: unknown) => boolean;

  constructor(description: string, matches: (value: unknown) => boolean) {
    this.description = description;
    this.matches = matches;
  }
}

export const anySize = new Matcher("a size", (value) => Number.isSafeInteger(value) && Number(value) >= 0);

/** Matches the cursor of a search. */
export const anyCursor = new Matcher(
  "a cursor",
  (value) => typeof value === "string" && /^[A-Za-z0-9_-]{32,}$/.test(value),
);

/** Matches the counts of the files that a search has read and skipped. */
export const anyCounts = {
  searched: { files: anySize, bytes: anySize },
  skipped: {
    too_large: anySize,
    binary: anySize,
    unreadable: anySize,
    long_lines: anySize,
    excluded: anySize,
  },
};

/** The fields of a search that `max_matches` has ended. */
export const stoppedByMatches = { next_cursor: anyCursor, stopped_by: "max_matches" };

/** Matches a string that contains all of these words. */
export const textWith = (...words: string[]): Matcher =>
  new Matcher(
    `text with ${words.join(", ")}`,
    (value) => typeof value === "string" && words.every((word) => value.includes(word)),
  );

/** Returns the error of a whole call. */
export const failure = (code: ErrorCode, ...says: string[]): Failure => ({ code, says });

/** Matches the error string of one entry of a batch. */
export const errorWith = (code: ErrorCode, ...says: string[]): Matcher =>
  new Matcher(`the error ${code} saying ${says.join(", ")}`, (value) => {
    const error = parseEntryError(value);
    return error !== undefined && error.code === code && missingWords(error.message, says).length === 0;
  });

/** Returns the words that are missing in a message. */
export const missingWords = (message: string, words: readonly string[]): string[] =>
  words.filter((word) => !message.toLowerCase().includes(word.toLowerCase()));

/** Returns the differences between an answer and the expected one, one sentence for each place. */
export function compareAnswer(actual: unknown, expected: unknown, at = "answer"): string[] {
  if (expected instanceof Matcher) {
    return expected.matches(actual)
      ? []
      : [`${at} is ${JSON.stringify(actual)}, should be ${expected.description}`];
  }
  if (!isContainer(actual) || !isContainer(expected) || Array.isArray(actual) !== Array.isArray(expected)) {
    return Object.is(actual, expected)
      ? []
      : [`${at} is ${JSON.stringify(actual)}, should be ${JSON.stringify(expected)}`];
  }
  const keys = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...keys].flatMap((key) => compareAnswer(actual[key], expected[key], `${at}.${key}`));
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns the revision of a file with this content (coder §14). */
export const contentRevision = (content: string | Buffer): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/**
 * Returns a function that makes cases of a batch. Each sends the payload that `payloadOf` makes of `entries`,
 * and expects one result per entry.
 */
export const batchOf =
  <Entries>(functionId: string, payloadOf: (entries: Entries) => unknown) =>
  (
    name: string,
    tree: Tree,
    entries: Entries,
    expect: { readonly results: readonly unknown[]; readonly tree: Changes },
  ): Case => ({
    name,
    tree,
    call: { function: functionId, payload: payloadOf(entries) },
    expect: { answer: { results: expect.results }, tree: expect.tree },
  });

/** Parses JSON, for payloads that an object literal cannot express (a key named `__proto__`). */
export const payloadOf = (json: string): unknown => JSON.parse(json);

/** A value of each JSON type, for cases of wrong types. */
export const wrongValues: Readonly<Record<string, unknown>> = {
  "a number": 7,
  "a fraction": 1.5,
  "a boolean": true,
  "a string": "x",
  null: null,
  "an array": ["a"],
  "an object": { a: "a.txt" },
};

/**
 * Makes one case per wrong type of a field: the whole call fails with C210, and its message names the field.
 */
export function wrongTypes(wrong: {
  readonly function: string;
  readonly field: string;
  /** The keys of `wrongValues` whose types the field accepts. */
  readonly takes: readonly string[];
  readonly says: readonly string[];
  readonly payload: (value: unknown) => unknown;
}): Case[] {
  return Object.entries(wrongValues)
    .filter(([kind]) => !wrong.takes.includes(kind))
    .map(([kind, value]) => ({
      name: `${wrong.field} is ${kind}`,
      tree: { "a.txt": "a\n", "sub/b.txt": "b\n" },
      call: { function: wrong.function, payload: wrong.payload(value) },
      expect: { error: failure("C210", ...wrong.says) },
    }));
}

/** Makes cases whose payload is not an object. */
export const notAnObject = (functionId: string): Case[] =>
  ["a.txt", 7, null, ["a.txt"], true].map((payload) => ({
    name: `the payload is ${JSON.stringify(payload)}`,
    tree: { "a.txt": "a\n" },
    call: { function: functionId, payload },
    expect: { error: failure("C210", "object") },
  }));
