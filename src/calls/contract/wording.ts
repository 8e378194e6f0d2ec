/** Answers and errors as text, for readers who know the functions by names of their own. */
import { quoteVisibly } from "../../base/log/quote.ts";

/** The parts of an error of `coder::*` or `shell::*`, as on the wire. */
export interface ErrorParts {
  readonly code: string;
  readonly message: string;
  readonly reason?: string;
  readonly details?: unknown;
}

/** An image or a sound for a reader. */
export interface Image {
  /** The data in base64 (RFC 4648). */
  readonly data: string;
  /** The media type, such as `image/png` or `audio/wav`. */
  readonly mediaType: string;
}

/** An answer for a reader: text, or pieces of text with images between them. */
export type Rendered = string | readonly (string | Image)[];

/** The wording of errors and advice in a text for a reader. */
export interface Wording {
  /**
   * Renders an error as text: `C211 not_found: …`, with its details in lines below. It begins with `path`,
   * the path that the error is about, unless its sentence names that.
   */
  failure(error: string | ErrorParts, path?: string): string;
  /** Renders a sentence of the worker with the reader's names of functions. */
  sentence(text: string): string;
}

/** Returns the wording for a reader to whom the function `id` is `nameOf(id)`. */
export function wordingFor(nameOf: (id: string) => string): Wording {
  const nameIds = (text: string) => text.replace(ids, (id) => nameOf(id));
  const sentence = (text: string) =>
    text.replace(idsAndQuotes, (part, end?: string) => (end === closing ? part : nameIds(part)));
  return {
    sentence,
    failure(error, path) {
      const parts = typeof error === "string" ? parseError(error) : error;
      if (parts === undefined) return prefixed(path, sentence(error as string));
      const { code, reason, message, details } = parts;
      const head = `${[code, reason].filter(Boolean).join(" ")}: ${sentence(message)}`;
      const { failures = [], ...facts } = (details ?? {}) as Partial<Failing>;
      const others = failures.map((failed) => sentence(failed.message));
      return [prefixed(path, head), ...renderDetails(facts, message), ...others].join("\n");
    },
  };
}

/** Returns an error whose sentences, those of its further failures too, are passed through `sentence`. */
export function reworded<Parts extends Pick<ErrorParts, "message" | "details">>(
  parts: Parts,
  sentence: Wording["sentence"],
): Parts {
  const { failures } = (parts.details ?? {}) as Partial<Failing>;
  return {
    ...parts,
    message: sentence(parts.message),
    ...(failures !== undefined && {
      details: {
        ...(parts.details as Failing),
        failures: failures.map((failed) => ({ ...failed, message: sentence(failed.message) })),
      },
    }),
  };
}

const ids = /\b(?:coder|shell)(?:::[\w-]+)+/g;

const closing = '"';

/**
 * Matches ids of functions, and text in quotes: that comes from the caller, and a file may be named like a
 * function. It captures the closing quote. Without one it matches all the rest, since to try each later quote
 * would take quadratic time.
 */
const idsAndQuotes = /"(?:[^"\\]|\\.)*("|\\?$)|\b(?:coder|shell)(?:::[\w-]+)+/gs;

/**
 * Parses the error in a line of JSON. Returns `undefined` for prose, which some functions of `shell::*` fail
 * with.
 */
function parseError(text: string): ErrorParts | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const parts = JSON.parse(text) as Partial<ErrorParts>;
    return typeof parts.code === "string" && typeof parts.message === "string"
      ? (parts as ErrorParts)
      : undefined;
  } catch {
    return undefined;
  }
}

const prefixed = (path: string | undefined, text: string): string =>
  path === undefined || text.includes(JSON.stringify(path)) ? text : `${quoteIfInvisible(path)}: ${text}`;

/** Returns a path on one line. */
const quoteIfInvisible = (path: string): string =>
  /[\p{C}\p{Zl}\p{Zp}]/u.test(path) ? quoteVisibly(path) : path;

/** The details of an error with further failures, each in a sentence of its own. */
interface Failing {
  readonly failures: readonly { readonly message: string }[];
}

/** Details that each sentence contains in words, or that are the caller's own. */
const saidInWords: readonly string[] = ["differs", "expected", "field", "path"];

/** Renders the details that the sentence does not contain already. */
function renderDetails(details: object, message: string): string[] {
  return Object.entries(details).flatMap(([key, value]) => {
    if (saidInWords.includes(key)) return [];
    if (Array.isArray(value))
      return value.flatMap((item) => (isNumberIn(item, message) ? [] : renderDetail(key, item)));
    return isNumberIn(value, message) ||
      (key === "change" && (isPlaced(message) || Object.hasOwn(details, "paths")))
      ? []
      : renderDetail(key, value);
  });
}

/** Returns whether the sentence of a transaction names the change that it is about, counted from 1. */
const isPlaced = (message: string): boolean => message.startsWith("Nothing was changed. ");

const isNumberIn = (value: unknown, message: string): boolean =>
  typeof value === "number" && withoutQuotes(message).split(/\D+/).includes(`${value}`);

/** Returns a sentence without ids and closed quotes. */
const withoutQuotes = (message: string): string =>
  message.replace(idsAndQuotes, (part, end?: string) => (end === undefined || end === closing ? "" : part));

function renderDetail(key: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [`${key}: ${value}`];
  const { from_line: from, content, text = content, ...rest } = value as Readonly<Record<string, unknown>>;
  const { path, matches } = rest;
  if (typeof path === "string" && typeof matches === "number")
    return [`${path}: ${matches} ${matches === 1 ? "match" : "matches"}`];
  if (typeof from !== "number" || typeof text !== "string") return [`${key}: ${JSON.stringify(value)}`];
  const lines = numberLines(text, from);
  const { line_before: before, line_after: after } = rest;
  return [
    describeExcerpt(key, from, rest),
    ...(typeof before === "string" ? numberLines(before, from - 1) : []),
    ...lines,
    ...(typeof after === "string" ? numberLines(after, from + lines.length) : []),
  ];
}

function describeExcerpt(
  key: string,
  from: number,
  { similarity, column }: Readonly<Record<string, unknown>>,
): string {
  const name = key.replace(/s$/, "");
  if (typeof similarity !== "number") return `${name} from line ${from}:`;
  const alike = similarity === 1 ? "" : `, ${Math.min(99, Math.round(similarity * 100))} % alike`;
  const place = typeof column === "number" ? `, byte ${column}` : "";
  return `${name} at line ${from}${place}${alike}:`;
}

/** Returns the lines of `text` with their numbers, like `read-file` with `numbered`. */
const numberLines = (text: string, from: number): string[] =>
  text === ""
    ? []
    : text
        .replace(/\r?\n$/, "")
        .split("\n")
        .map((line, index) => `${from + index}→${line}`);
