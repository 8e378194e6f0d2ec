/** Line numbers that a listing puts before each line, and that are pasted with it. */

/** A line as `cat -n`, `grep -n` and numbered reads show it. */
const listedLine = /^ {0,8}(?:\d{1,7}(?:\u2192|\t| ?\| ?|: )|L\d{1,7}: )/;

/** Returns `text` without the line numbers of a listing, or `undefined` if some line has none. */
export function withoutLineNumbers(text: string): string | undefined {
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const isNumbered = lines.slice(0, last).every((line) => listedLine.test(line));
  return isNumbered ? lines.map((line) => line.replace(listedLine, "")).join("\n") : undefined;
}

/** The form of `cat -n`, which pads numbers of fewer than six digits. */
const beforeTab = /^ *(\d{1,7})\t/;

/** The forms in which listings number lines. */
const forms: readonly RegExp[] = [
  /^ *(\d{1,7})[\u2192]/,
  beforeTab,
  /^ *(\d{1,7}) \| ?/,
  /^ *L(\d{1,7}): /,
  /^ *(\d{1,7}): /,
];

/**
 * Returns whether each line of `text` begins with its number, consecutively, which hardly happens by chance.
 * A single line counts only in the form of this worker's own reads.
 */
export function isListing(text: string): boolean {
  const lines = text.replace(/\r?\n$/, "").split("\n");
  return forms.some((form, index) => {
    if (lines.length === 1 && index > 0) return false;
    // Without padding, numbers before tabs may be a column of a table.
    if (form === beforeTab && !lines[0]!.startsWith(" ")) return false;
    const first = Number(form.exec(lines[0]!)?.[1]);
    return lines.every((line, at) => Number(form.exec(line)?.[1]) === first + at);
  });
}
