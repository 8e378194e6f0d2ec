/** A cell: its text, and how it is painted. */
export interface TableCell {
  readonly text: string;
  readonly paint?: ((text: string) => string) | undefined;
  /** Whether the text is aligned to the right, as numbers are. */
  readonly isNumber?: boolean;
}

/** Renders rows as columns with two blanks between them. The last column is not padded. */
export function renderTable(rows: readonly (readonly TableCell[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, { text }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, text.length);
  return rows
    .map((row) =>
      row
        .map(({ text, paint = (one) => one, isNumber = false }, index) => {
          const room = " ".repeat(index === row.length - 1 && !isNumber ? 0 : widths[index]! - text.length);
          return isNumber ? room + paint(text) : paint(text) + room;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
