/**
 * Splits a command line into the words of an argument vector. It reads quotes as a POSIX shell does, and does
 * nothing else that a shell does: no variables, no globs, no operators (shell §6.4).
 */
import { refusePlainly } from "./plain-refusal.ts";

/** A program's name and its arguments. */
export type Argv = readonly [string, ...string[]];

/** Maximum arguments of a program, which starts in one step: 30 ms for as many. */
export const maxArgs = 20_000;

/**
 * Returns the argument vector of a call: `command` and `args` unchanged, or without `args` the words of the
 * line `command`. Throws a plain refusal for an unclosed quote, for no word, and for too many.
 */
export function parseArgv(command: string, args: readonly string[] | null | undefined): Argv {
  const argv = args ? [command, ...args] : parseWords(command);
  if (argv.length === 0) throw refusePlainly.emptyCommand();
  return argv as [string, ...string[]];
}

/**
 * Returns the words of a command line. Throws a plain refusal for an unclosed quote, and for more words than
 * a program and its arguments may be.
 */
export const parseWords = (line: string): string[] => readCommandLine(line).words;

/** The words of a command line, and what a shell would act on in it. */
interface CommandLine {
  readonly words: string[];
  /** The words with an operator of a shell outside of quotes. */
  readonly operated: readonly string[];
  /** Whether a line break outside of quotes stands between two words. */
  readonly hasBreak: boolean;
}

/** Parses a command line like `parseWords`, and notes what a shell would act on. */
export function readCommandLine(line: string): CommandLine {
  const words: string[] = [];
  const operated: string[] = [];
  let [at, isNewLine, hasBreak] = [0, false, false];
  while (at < line.length) {
    const skipped = skipBetweenWords(line, at);
    if (skipped > at) {
      isNewLine ||= words.length > 0 && line[at] !== "\\" && line.slice(at, skipped).includes("\n");
      at = skipped;
      continue;
    }
    const word = parseWord(line, at);
    if (words.length > maxArgs) throw refusePlainly.tooManyWords(maxArgs + 1);
    words.push(word.text);
    if (word.isOperated) operated.push(word.text);
    hasBreak ||= isNewLine;
    at = word.end;
  }
  return { words, operated, hasBreak };
}

/** Matches the operators that a shell finds in a word, and those that begin or end one. */
const operator = /;|&&|\||&$|^\d*&?[<>]/;

const isSeparator = (character: string | undefined) =>
  character === " " || character === "\t" || character === "\n";

/** Returns the end of a separator, a joined line or a comment at `at`, or `at` without any. */
function skipBetweenWords(line: string, at: number): number {
  if (isSeparator(line[at])) return parseRun(separators, line, at).end;
  if (line.startsWith("\\\n", at)) return at + 2;
  if (line[at] !== "#") return at;
  const newline = line.indexOf("\n", at);
  return newline === -1 ? line.length : newline;
}

/** A piece of a word, and its end in the line. */
interface Piece {
  readonly text: string;
  readonly end: number;
}

function parseWord(line: string, start: number): Piece & { readonly isOperated: boolean } {
  let text = "";
  let isOperated = false;
  let at = start;
  while (at < line.length && !isSeparator(line[at])) {
    const isPlain = !quoting.has(line[at]!);
    const piece = parsePiece(line, at);
    isOperated ||= isPlain && operator.test(piece.text);
    text += piece.text;
    at = piece.end;
  }
  return { text, end: at, isOperated };
}

const quoting: ReadonlySet<string> = new Set(["'", '"', "\\"]);

function parsePiece(line: string, at: number): Piece {
  const character = line[at];
  if (character === "'") return parseSingleQuoted(line, at);
  if (character === '"') return parseDoubleQuoted(line, at);
  if (character !== "\\") return parseRun(unquoted, line, at);
  const escaped = line[at + 1] ?? "\\";
  return { text: escaped === "\n" ? "" : escaped, end: at + 2 };
}

/**
 * Match separators, and characters without special meaning outside quotes and in double quotes. Sticky: they
 * match at `lastIndex`.
 */
const separators = /[ \t\n]+/y;
const unquoted = /[^ \t\n'"\\]+/y;
const doubleQuoted = /[^"\\]+/y;

/** Parses a run of such characters in one step: a line may have millions. */
function parseRun(run: RegExp, line: string, at: number): Piece {
  run.lastIndex = at;
  const text = run.exec(line)?.[0] ?? "";
  return { text, end: at + text.length };
}

function parseSingleQuoted(line: string, open: number): Piece {
  const close = line.indexOf("'", open + 1);
  if (close === -1) throw refusePlainly.unclosedQuote("'");
  return { text: line.slice(open + 1, close), end: close + 1 };
}

function parseDoubleQuoted(line: string, open: number): Piece {
  let text = "";
  let at = open + 1;
  while (at < line.length) {
    if (line[at] === '"') return { text, end: at + 1 };
    const piece = line[at] === "\\" ? parseEscapeInDoubleQuotes(line, at) : parseRun(doubleQuoted, line, at);
    text += piece.text;
    at = piece.end;
  }
  throw refusePlainly.unclosedQuote('"');
}

function parseEscapeInDoubleQuotes(line: string, at: number): Piece {
  const escaped = line[at + 1] ?? "";
  const text = '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
  return { text: escaped === "\n" ? "" : text, end: at + 2 };
}
