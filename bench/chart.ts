/** The chart in the README: a bar for each search of the tree L, whose length is the ratio to ripgrep. */
import type { Ratio } from "./comparison.ts";

const rowHeight = 26;
const labelWidth = 330;
/** The length in pixels of a bar for the peer's time. */
const unitWidth = 280;
const width = labelWidth + unitWidth * 1.5;
const top = 78;

/**
 * Renders the searches for all matches in `tree` as an SVG whose colours are readable on light and on dark
 * pages.
 */
export function renderChart(ratios: readonly Ratio[], tree: string): string {
  const group = `search ${tree}, all matches`;
  const searches = ratios.filter((row) => row.group === group && row.peer === "rg -j2");
  const sorted = ratios.filter((row) => row.group === group && row.peer === "rg --sort path");
  const height = top + searches.length * rowHeight + 40;
  const bars = searches.map((row, index) => renderBar(row, sorted[index], top + index * rowHeight));
  const line = labelWidth + unitWidth;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Time of coder::search as a multiple of ripgrep's" font-family="system-ui, sans-serif" font-size="13">
  <style>text { fill: #57606a } .name { fill: #24292f } @media (prefers-color-scheme: dark) { text { fill: #8b949e } .name { fill: #e6edf3 } }</style>
  <text class="name" x="8" y="24" font-size="16" font-weight="600">coder::search, every match, as a multiple of ripgrep's time</text>
  <text x="8" y="46">60,000 files, 560 MB, two cores, warm cache; shorter is faster</text>
  <rect x="${labelWidth}" y="56" width="10" height="10" rx="2" fill="#2da44e"/><text x="${labelWidth + 16}" y="66">of rg -j2, in any order</text>
  <rect x="${labelWidth + 180}" y="56" width="10" height="10" rx="2" fill="#54aeff"/><text x="${labelWidth + 196}" y="66">of rg --sort path, in ours</text>
${bars.join("\n")}
  <line x1="${line}" x2="${line}" y1="${top - 4}" y2="${height - 32}" stroke="#8b949e" stroke-dasharray="4 3"/>
  <text x="${line}" y="${height - 14}" text-anchor="middle">1.0 = ripgrep</text>
</svg>
`;
}

function renderBar(row: Ratio, sorted: Ratio | undefined, y: number): string {
  const end = (ratio: number) => Math.min(ratio, 1.4) * unitWidth;
  const bar = ({ ratio }: Ratio, offset: number, colour: string) =>
    `  <rect x="${labelWidth}" y="${y + offset}" width="${end(ratio).toFixed(1)}" height="9" rx="2" fill="${colour}"/>` +
    `<text x="${(labelWidth + end(ratio) + 5).toFixed(1)}" y="${y + offset + 9}" font-size="10">${ratio.toFixed(2)}</text>`;
  return [
    `  <text class="name" x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escapeText(row.name)}</text>`,
    bar(row, 0, "#2da44e"),
    ...(sorted ? [bar(sorted, 11, "#54aeff")] : []),
  ].join("\n");
}

const escapeText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
