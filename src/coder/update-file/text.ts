/** Renders the result of an edit as text for a model. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { maxSites } from "../../text/edits/echo.ts";
import { renderPath } from "../render/entry-text.ts";

/** The result for one file, as on the wire. */
interface EditResult {
  readonly path: string;
  readonly applied: number;
  /** The whole file after the ops, if it was requested. */
  readonly after?: string | null;
  readonly new_line_count: number;
  readonly echoes?: readonly WireEcho[];
  readonly echoes_truncated?: boolean;
  readonly diff?: string;
  readonly diff_truncated?: boolean;
  readonly line_ends?: string;
  readonly line_ends_changed?: boolean;
  readonly text_notes?: readonly string[];
  readonly hints?: readonly string[];
  readonly unchanged?: boolean;
}

/** The fields of a sent op that its text depends on. */
interface SentOp {
  readonly op?: string;
  readonly content?: string;
}

interface WireEcho {
  readonly op_index: number;
  readonly from_line: number;
  readonly lines: readonly string[];
  readonly elided?: number;
  readonly total_replacements?: number;
}

/**
 * Renders one line about the file, followed by its diff, or by the lines of all echoes with their numbers,
 * each line once.
 */
export function* renderEdit(result: EditResult, ops: readonly SentOp[] = []): Steps<string> {
  const { path, applied, new_line_count: count, echoes = [], diff = "" } = result;
  const isTruncated = result.echoes_truncated === true || result.diff_truncated === true;
  const whole = result.after ? yield* renderWhole(result.after) : [];
  return [
    `${renderPath(path)}: ${applied} ${applied === 1 ? "op" : "ops"} applied${renderCounts(echoes)}${renderUnchanged(result)}, ${count} ${count === 1 ? "line" : "lines"} now`,
    ...renderEchoes(echoes),
    ...whole,
    ...(diff === "" ? [] : [diff.replace(/\n$/, "")]),
    ...(isTruncated ? ["[more of it is not shown]"] : []),
    ...(result.text_notes ?? []).map((note) => `[${note}]`),
    ...(result.line_ends === undefined ? [] : [`[${renderLineEnds(result)}]`]),
    ...(result.hints ?? []).map((hint) => `[${hint}]`),
    ...ops.flatMap(renderEmptyContent),
  ].join("\n");
}

/** Lines of a file that are rendered in one step. */
const perStep = 4096;

/** Renders the lines of a file with their numbers. Each item of the result has some thousand lines. */
function* renderWhole(text: string): Steps<string[]> {
  const end = text.length - (/\r?\n$/.exec(text.slice(-2))?.[0].length ?? 0);
  const parts: string[] = [];
  let lines: string[] = [];
  for (let from = 0, number = 1; from <= end; number++) {
    const at = text.indexOf("\n", from);
    const to = at < 0 || at > end ? end : at;
    lines.push(`${number}→${text.slice(from, to)}`);
    from = to + 1;
    if (number % perStep !== 0) continue;
    parts.push(lines.join("\n"));
    lines = [];
    yield;
  }
  return lines.length === 0 ? parts : [...parts, lines.join("\n")];
}

/** Notes that an op has put in nothing, because an empty line was probably meant. */
function renderEmptyContent({ op, content }: SentOp, index: number): string[] {
  const done = op === undefined ? undefined : doneWithoutContent[op];
  return content === "" && done !== undefined
    ? [`[ops[${index}] ${done}, as its content is empty; "\\n" is an empty line]`]
    : [];
}

const doneWithoutContent: Readonly<Record<string, string>> = {
  insert: "inserted nothing",
  update_lines: "removed its lines",
};

/** Returns a note about line ends other than LF. */
export function renderLineEnds({
  line_ends: ends,
  line_ends_changed: isChanged,
}: Pick<EditResult, "line_ends" | "line_ends_changed">): string {
  if (isChanged) return `line ends are now ${ends!.replace(/^mixed line ends/, "mixed")}`;
  return ends!.startsWith("mixed") ? ends! : `${ends} kept`;
}

/** Returns how many matches were replaced, unless it is one, as the caller may have expected. */
function renderCounts(echoes: readonly WireEcho[]): string {
  const counts = new Map(echoes.map((echo) => [echo.op_index, echo.total_replacements]));
  const said = [...counts].flatMap(([op, count]) =>
    count === undefined || count === 1 ? [] : [`ops[${op}] replaced ${renderCount(count)}`],
  );
  return said.length === 0 ? "" : ` (${said.join(", ")})`;
}

/** Says that nothing was changed, unless the counts of replacements do. */
function renderUnchanged({ unchanged: isUnchanged, echoes = [] }: EditResult): string {
  const isSaid = echoes.length > 0 && echoes.every(({ total_replacements: count }) => count === 0);
  return isUnchanged && !isSaid ? ", which changed nothing" : "";
}

function renderCount(count: number): string {
  if (count === 0) return "nothing";
  return count > maxSites ? `${count}; the first ${maxSites} are shown` : String(count);
}

function renderEchoes(echoes: readonly WireEcho[]): string[] {
  const lines = new Map<number, string>();
  for (const echo of echoes) for (const [number, line] of numberedLines(echo)) lines.set(number, line);
  const isChanged = (number: number) => echoes.some((echo) => elides(echo, number));
  const numbers = [...lines.keys()].sort((a, b) => a - b);
  return numbers.flatMap((number, at) => {
    const text = `${number}→${lines.get(number)}`;
    const before = numbers[at - 1] ?? number - 1;
    if (before === number - 1) return [text];
    // Other gaps hold only lines that did not change.
    return [isChanged(before + 1) ? `[lines ${before + 1} to ${number - 1} are not shown]` : "…", text];
  });
}

/** Returns whether the line is one of those that the echo leaves out in its middle. */
function elides({ from_line: first, lines, elided = 0 }: WireEcho, number: number): boolean {
  const from = first + Math.ceil(lines.length / 2);
  return number >= from && number < from + elided;
}

/** Returns the lines of an echo with their numbers. Lines are only elided in its middle. */
export function numberedLines({
  from_line: first,
  lines,
  elided = 0,
}: Pick<WireEcho, "from_line" | "lines" | "elided">): [number: number, line: string][] {
  return lines.map((line, index) => [first + index + (index < lines.length / 2 ? 0 : elided), line]);
}
