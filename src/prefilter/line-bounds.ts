/** A line of a text. */
export interface LineBounds {
  start: number;
  /** Offset of the newline at its end; for a last line without a newline, of the one after the text. */
  next: number;
  /** Newlines between `counted` and the start. */
  newlines: number;
}

/**
 * Writes the bounds of the line of `hit` to `line`. `from` is the start of that line or of an earlier one; newlines before
 * `counted` do not count. A newline follows somewhere after `hit`.
 */
export type FindLineBounds = (
  text: Buffer,
  hit: number,
  known: { readonly from: number; readonly counted: number },
  line: LineBounds,
) => void;

const newline = 0x0a;

/** The same in JavaScript, for machines without the kernel. */
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
