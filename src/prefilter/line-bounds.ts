/** A line of a text. */
export interface LineBounds {
  start: number;
  /** Where the newline at its end is: the one behind the text for the last line that has none. */
  next: number;
  /** Newlines between the place that is counted up to and the start. */
  newlines: number;
}

/**
 * Tells of the line that `hit` is in. No line starts before `from`, which is the start of one, and up to `counted`
 * newlines are counted already. There is a newline somewhere behind `hit`.
 */
export type FindLineBounds = (
  text: Buffer,
  hit: number,
  known: { readonly from: number; readonly counted: number },
  line: LineBounds,
) => void;

const newline = 0x0a;

/** Where there is no kernel. */
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
