/** Renders the answer to an applied patch as text for a model. */
import { describeLostTarget } from "../fields/links.ts";
import { describeReplaced } from "../fields/two-paths.ts";
import { renderPath } from "../render/entry-text.ts";
import { numberedLines, renderLineEnds } from "../update-file/text.ts";

/** The result for one file, as on the wire. */
export interface PatchedFileResult {
  readonly path: string;
  readonly kind: string;
  readonly from?: string;
  readonly replaced?: boolean;
  readonly dangling?: boolean;
  readonly mode?: string;
  readonly new_line_count?: number;
  readonly echo?: readonly HunkEcho[];
  readonly echo_truncated?: boolean;
  readonly placed?: readonly PlacedHunk[];
  readonly more_placed?: number;
  readonly line_ends?: string;
  readonly line_ends_changed?: boolean;
  readonly text_notes?: readonly string[];
}

interface PlacedHunk {
  readonly hunk: number;
  readonly line: number;
  readonly offset?: number;
  readonly also_at?: readonly number[];
  readonly indented?: string;
  readonly outdented?: string;
  readonly typographic?: boolean;
}

interface HunkEcho {
  readonly from_line: number;
  readonly lines: readonly string[];
  readonly elided?: number;
}

/** Renders one line about the file, and below it the lines around its hunks, with their numbers. */
export function renderPatched(result: PatchedFileResult): string {
  const { path, kind, from, new_line_count: lines, echo = [], echo_truncated: isTruncated } = result;
  const source = from === undefined ? "" : ` from ${renderPath(from)}`;
  const replaced = describeReplaced(result);
  const mode = result.mode === undefined ? "" : `, mode ${result.mode}`;
  const count = lines === undefined ? "" : `, ${lines} ${lines === 1 ? "line" : "lines"} now`;
  return [
    `${renderPath(path)}: ${kind}${source}${replaced}${mode}${count}${describeLostTarget(result)}`,
    ...echo.flatMap(renderEcho),
    ...(isTruncated ? ["[more of it is not shown]"] : []),
    ...(result.placed ?? []).map(renderPlaced),
    ...(result.more_placed === undefined ? [] : [`[${result.more_placed} more hunks have such notes]`]),
    ...(result.text_notes ?? []).map((note) => `[${note}]`),
    ...(result.line_ends === undefined ? [] : [`[${renderEnds(result)}]`]),
  ].join("\n");
}

/** Returns a note about line ends other than LF. A new file has those of the patch. */
const renderEnds = ({ kind, ...result }: PatchedFileResult): string =>
  kind === "added" && result.line_ends === "CRLF"
    ? "line ends are CRLF, as in the patch"
    : renderLineEnds(result);

/** Describes, in one line, the differences between a hunk as written and as applied. */
function renderPlaced(placed: PlacedHunk): string {
  const { hunk, line, offset = 0, also_at: alsoAt = [], indented, outdented, typographic } = placed;
  const distance = `${Math.abs(offset)} ${Math.abs(offset) === 1 ? "line" : "lines"}`;
  const notes = [
    ...(offset === 0
      ? []
      : [`applied at line ${line}, ${distance} ${offset < 0 ? "before" : "after"} its header`]),
    ...(alsoAt.length === 0
      ? []
      : [
          `${offset === 0 ? `applied at line ${line}, and ` : ""}it fits at ${alsoAt.length === 1 ? "line" : "lines"} ${alsoAt.join(", ")} too`,
        ]),
    ...(indented === undefined
      ? []
      : [`its new lines were indented by ${nameBlanks(indented)} like the file`]),
    ...(outdented === undefined ? [] : [`its new lines lost ${nameBlanks(outdented)} that the file lacks`]),
    ...(typographic ? ["the file differs from it in typographic quotes, dashes or spaces"] : []),
  ];
  return `[hunk ${hunk}: ${notes.join("; ")}]`;
}

/** Returns a name of some blanks, such as `4 spaces`. */
function nameBlanks(blanks: string): string {
  const [spaces, tabs] = [blanks.split(" ").length - 1, blanks.split("\t").length - 1];
  const name = (count: number, noun: string) =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`];
  return [...name(tabs, "tab"), ...name(spaces, "space")].join(" and ") || "other blanks";
}

/** Renders an echo with line numbers. Lines are only elided in its middle. */
function renderEcho(echo: HunkEcho, index: number): string[] {
  const shown = numberedLines(echo).map(([number, line]) => `${number}→${line}`);
  if (echo.elided) shown.splice(Math.ceil(shown.length / 2), 0, "…");
  return index === 0 ? shown : ["…", ...shown];
}
