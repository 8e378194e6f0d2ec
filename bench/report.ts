/** What was measured, as a table for people and as data. */
import type { Ratio } from "./comparison.ts";
import type { Figure } from "./figures.ts";

export interface Measurements {
  /** When, on what, in what versions, how often. */
  readonly conditions: Readonly<Record<string, string | number>>;
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

export const verdict = ({ ratio, target }: Ratio): "pass" | "over" | "" =>
  target === undefined ? "" : ratio <= target ? "pass" : "over";

const head = "     ours      peer   ratio   (from    to)    cpu   target";

/** One row of the table, and the line of its group before the first of it. */
export function renderRatio(row: Ratio, before: Ratio | undefined): string {
  const cells = [
    milliseconds(row.ours),
    milliseconds(row.theirs),
    row.ratio.toFixed(2).padStart(8),
    `   (${row.spread.map((end) => end.toFixed(2).padStart(4)).join("  ")})`,
    (row.cpuRatio?.toFixed(2) ?? "").padStart(7),
    row.target === undefined ? "        " : row.target.toFixed(2).padStart(8),
    verdict(row).padStart(6),
  ];
  const line = `  ${row.name.padEnd(48)}${row.peer.padEnd(34)}${cells.join("")}`;
  return row.group === before?.group ? line : `\n${row.group.padEnd(84)}${head}\n${line}`;
}

function milliseconds(value: number): string {
  return `${value < 1 ? (value * 1000).toFixed(1) : value.toFixed(1)} ${value < 1 ? "µs" : "ms"}`.padStart(
    10,
  );
}

export function renderFigure({ name, value, unit, most }: Figure): string {
  const number = (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en")).padStart(9);
  const target = most === undefined ? "" : `, at most ${most} ${value <= most ? "pass" : "over"}`;
  return `  ${name.padEnd(82)}${number} ${unit}${target}`;
}

/** How many rows with a target reach it. */
export function renderSummary(ratios: readonly Ratio[]): string {
  const verdicts = ratios.map(verdict);
  const [passed, over] = ["pass", "over"].map((word) => verdicts.filter((one) => one === word).length);
  return `${passed} rows reach their target, ${over} are over it`;
}

/** The report as JSON, with as many digits as mean something. */
export const renderJson = (report: Measurements): string =>
  `${JSON.stringify(report, (_, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value), 2)}\n`;
