/** What a model reads of a patch that was applied. */

/** The result for one file, as on the wire. */
export interface PatchedFileResult {
  readonly path: string;
  readonly kind: string;
  readonly from?: string;
  readonly new_line_count?: number;
  readonly echo?: readonly HunkEcho[];
  readonly echo_truncated?: boolean;
}

interface HunkEcho {
  readonly from_line: number;
  readonly lines: readonly string[];
  readonly elided?: number;
}

/** One line about the file, and below it the lines around its hunks, with their numbers. */
export function renderPatched(result: PatchedFileResult): string {
  const { path, kind, from, new_line_count: lines, echo = [], echo_truncated: isTruncated } = result;
  const source = from === undefined ? "" : ` from ${from}`;
  const count = lines === undefined ? "" : `, ${lines} lines now`;
  return [
    `${path}: ${kind}${source}${count}`,
    ...echo.flatMap(renderEcho),
    ...(isTruncated ? ["[more of it is not shown]"] : []),
  ].join("\n");
}

/** Of an echo with elided lines the first half stands before them. */
function renderEcho({ from_line: first, lines, elided = 0 }: HunkEcho, index: number): string[] {
  const half = elided === 0 ? lines.length : Math.ceil(lines.length / 2);
  const numbered = lines.map((line, at) => `${first + at + (at < half ? 0 : elided)}→${line}`);
  const shown = elided === 0 ? numbered : [...numbered.slice(0, half), "…", ...numbered.slice(half)];
  return index === 0 ? shown : ["…", ...shown];
}
