/** Renders long lists in steps. */
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** Characters that are rendered in one step, and those that each item counts as besides its own. */
const charactersOf = { step: 64 * 1024, item: 64 } as const;

/** Lines that are joined in one step. */
const linesPerStep = 16 * 1024;

/** Renders the items of a list. */
export function* renderEach<T>(
  items: readonly T[],
  render: (item: T, index: number) => string,
): Steps<string[]> {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, item] of items.entries()) {
    const line = render(item, index);
    lines.push(line);
    characters += charactersOf.item + line.length;
    if (characters < charactersOf.step) continue;
    characters = 0;
    yield;
  }
  return lines;
}

/** Joins lines to a text. Joining a million at once takes some 50 ms. */
export function* joinLines(lines: readonly string[]): Steps<string> {
  if (lines.length <= linesPerStep) return lines.join("\n");
  const parts: string[] = [];
  for (let from = 0; from < lines.length; from += linesPerStep) {
    parts.push(lines.slice(from, from + linesPerStep).join("\n"));
    yield;
  }
  return parts.join("\n");
}
