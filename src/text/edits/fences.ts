/** Fences of Markdown, between which code is pasted. */

const fence = /^ {0,3}(?:`{3,}|~{3,})[^`\n]*$/;

/**
 * Returns a text without its first and its last line if the first is a fence of Markdown. Returns `undefined`
 * without one.
 */
export function withoutFences(text: string): string | undefined {
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (lines.length < 2 || !fence.test(lines[0]!.trimEnd())) return undefined;
  const isClosed = last > 0 && /^ {0,3}(?:`{3,}|~{3,})\s*$/.test(lines[last]!);
  const inner = lines.slice(1, isClosed ? last : lines.length).join("\n");
  return inner.trim() === "" ? undefined : inner;
}
