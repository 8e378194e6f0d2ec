/** Fences of Markdown, between which code is pasted. */

const fence = /^ {0,3}(?:`{3,}[^`\n]*|~{3}[^`\n]*)$/;

const closingFence = /^ {0,3}(?:`{3,}|~{3,})$/;

/**
 * Returns a text without its first and its last line if the first is a fence of Markdown. Returns `undefined`
 * without one. Only those two lines are read, since the text may have millions.
 */
export function withoutFences(text: string): string | undefined {
  const first = text.indexOf("\n");
  if (first < 0 || !fence.test(text.slice(0, first).trimEnd())) return undefined;
  const end = text.trimEnd().length;
  const last = text.lastIndexOf("\n", end - 1) + 1;
  const isClosed = last > 0 && closingFence.test(text.slice(last, end));
  const inner = text.slice(first + 1, isClosed ? last - 1 : text.length);
  return inner.trim() === "" ? undefined : inner;
}
