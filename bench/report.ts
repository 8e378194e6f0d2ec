/** Renders the measurements as a table for people and as JSON. */
import type { Ratio } from "./comparison.ts";
import type { Figure } from "./figures.ts";

export interface Measurements {
  /** The date, the machine, the versions of all programs, and the number of rounds. */
  readonly conditions: Readonly<Record<string, string | number>>;
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

export const verdict = ({ ratio, target }: Ratio): "pass" | "over" | "" =>
  target === undefined ? "" : ratio <= target ? "pass" : "over";

const head = "     ours      peer   ratio   (from    to)    cpu   target";

/** Renders one row of the table, after the heading of its group if it is the first of that group. */
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

/** Renders the numbers of rows that reach their target and that miss it. */
export function renderSummary(ratios: readonly Ratio[]): string {
  const verdicts = ratios.map(verdict);
  const [passed, over] = ["pass", "over"].map((word) => verdicts.filter((one) => one === word).length);
  return `${passed} rows reach their target, ${over} are over it`;
}

/** Renders the report as JSON, with four significant digits. */
export const renderJson = (report: Measurements): string =>
  `${JSON.stringify(report, (_, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value), 2)}\n`;
