/** The bounds of a line in a text. */
export interface LineBounds {
  start: number;
  /**
   * The offset of the newline at its end; for a last line without a newline, that of the newline after the
   * text.
   */
  next: number;
  /** The number of newlines between `counted` and the start. */
  newlines: number;
}

/**
 * Writes the bounds of the line that contains `hit` to `line`. `from` is the start of that line or of an
 * earlier one; newlines before `counted` do not count. A newline must follow somewhere after `hit`.
 */
export type FindLineBounds = (
  text: Buffer,
  hit: number,
  known: { readonly from: number; readonly counted: number },
  line: LineBounds,
) => void;

const newline = 0x0a;

/** Does the work of the kernel's `lineBounds` in JavaScript, for machines without it. */
export const findLineBounds: FindLineBounds = (text, hit, { from, counted }, line) => {
  line.start = hit <= from ? from : Math.max(from, text.lastIndexOf(newline, hit - 1) + 1);
  line.next = text.indexOf(newline, hit);
  line.newlines = countNewlines(text, counted, line.start);
};

function countNewlines(text: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(newline, from); at >= 0 && at < to; at = text.indexOf(newline, at + 1)) count++;
  return count;
}
