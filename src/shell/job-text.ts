/** Jobs and commands as text for models and people. */

import { quoteVisibly } from "../base/log/quote.ts";
import type { Wording } from "../calls/contract/wording.ts";
import type { JobOutput } from "./job-output.ts";
import { renderMaxima } from "./maxima.ts";
import { renderRemarks } from "./observed.ts";
import { remarksOf } from "./programs/records.ts";

/** The way a command ended, unless it is running. */
export interface CommandEnding {
  readonly status: "running" | "finished" | "killed" | "failed";
  readonly exit_code?: number | null | undefined;
  readonly signal?: string | null | undefined;
  readonly started_at_ms: number;
  readonly finished_at_ms?: number | null | undefined;
  readonly changed?: string | undefined;
  readonly checkpoint?: number | undefined;
  readonly not_held?: string[] | undefined;
  readonly notes?: string[] | undefined;
}

/** Renders a duration, such as `12 ms`, `3.4 s` or `2 min 5 s`. */
export function renderDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Renders the end of a command, such as `exit code 1 after 3.4 s`, or `running for 12 ms`. */
export function renderEnding(ending: CommandEnding): string {
  const { status, started_at_ms: started, finished_at_ms: finished } = ending;
  const duration = renderDuration((finished ?? Date.now()) - started);
  return status === "running" ? `running for ${duration}` : `${renderOutcome(ending)} after ${duration}`;
}

function renderOutcome({ status, exit_code: code, signal }: CommandEnding): string {
  if (status === "killed") return `killed${signal ? ` (${signal})` : ""}`;
  if (typeof code === "number") return `exit code ${code}`;
  return signal ? `ended by ${signal}` : "failed";
}

interface ShownJob {
  readonly id: string;
  readonly ending: CommandEnding;
  readonly output: JobOutput;
  /** The number of the first requested line. */
  readonly since?: number | undefined;
  /** The requested number of bytes of that line to leave out. */
  readonly sinceByte?: number | undefined;
  /** The pattern that was waited for. */
  readonly awaited?: string | undefined;
  /** Whether `grep` chose the lines. */
  readonly isSearch?: boolean;
  /** The maxima that fields of the request exceeded. */
  readonly maxima?: Readonly<Record<string, number>> | undefined;
}

/** Renders the output, and a line in brackets with the state of the job and how to continue. */
export function renderJob(
  { id, ending, output, since = 1, sinceByte, awaited, isSearch = false, maxima }: ShownJob,
  wording: Pick<Wording, "sentence">,
): string {
  const {
    text,
    from,
    next,
    start,
    end,
    matches,
    matches_before: before = 0,
    to_byte: cutAt,
    found,
    found_line: line,
  } = output;
  const isRunning = ending.status === "running";
  const first = Math.max(start, since);
  const isShown = found === undefined || text.includes(found);
  const notes = [
    `${id}: ${renderEnding(ending)}`,
    ...(isSearch ? [countMatches(matches ?? 0)] : []),
    ...(awaited === undefined
      ? []
      : [`${line ? `line ${line} matches` : "no line matches"} ${JSON.stringify(awaited)}`]),
    ...renderMaxima(maxima),
    ...(cutAt === undefined
      ? []
      : [`line ${next - 1} is cut: since ${next - 1} and since_byte ${cutAt} for its rest`]),
    ...(next < end ? [`more: since ${next}`] : isRunning ? [`go on with since ${next}`] : []),
  ];
  return [
    ...(start > since && from === start ? [`[lines before ${start} are no longer kept]`] : []),
    ...(isSearch ? [] : renderBefore(output, { first, sinceByte })),
    ...(before > 0 ? [`[${countLines(before)} that match before: since ${first} without tail_lines]`] : []),
    ...(isShown ? [] : [`${line}→${found}`]),
    ...renderOutput(text),
    ...(text !== "" || isSearch ? [] : [since > 1 ? `[no output since line ${since}]` : "[no output]"]),
    ...renderRemarks(remarksOf(ending), wording),
    `[${notes.join("; ")}]`,
  ].join("\n");
}

/** Renders what is left out before the text, and how to see it. */
function renderBefore(
  { from, from_byte: bytes }: JobOutput,
  { first, sinceByte }: { readonly first: number; readonly sinceByte: number | undefined },
): string[] {
  const left = [
    ...(from > first ? [countLines(from - first)] : []),
    ...(bytes === undefined || bytes === sinceByte ? [] : [`${bytes} bytes of line ${from}`]),
  ];
  return left.length === 0 ? [] : [`[${left.join(" and ")} before: since ${first}, or grep]`];
}

/** Renders an output as lines of a text, with the empty ones at its end. */
export const renderOutput = (output: string): string[] => (output === "" ? [] : [output.replace(/\n$/, "")]);

const countLines = (count: number): string => (count === 1 ? "1 line" : `${count} lines`);

const countMatches = (count: number): string =>
  count === 0 ? "no line matches" : count === 1 ? "1 line matches" : `${count} lines match`;

/** Renders the command line as a person would type it. */
export const renderCommand = (argv: readonly string[]): string =>
  argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteVisibly(word))).join(" ");
