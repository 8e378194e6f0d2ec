/** What can be said of a pattern's matches in a text of several lines, before it is matched. */
import { foldHir, type Hir, type HirFold, type Range } from "./hir.ts";

const newline = 0x0a;

/** Whether each match is within a line, and the same in that line alone as in the text. */
export const matchesWithinLines = (hir: Hir): boolean => !asksForTextEnds(hir) && isWithinLine(hir);

/** Whether a match may be empty. */
export const matchesEmpty = (hir: Hir): boolean => foldHir(hir, emptiness);

const emptiness: HirFold<boolean> = {
  empty: true,
  look: true,
  literal: () => false,
  class: () => false,
  repetition: (part, { min }) => min === 0 || part,
  concat: (parts) => parts.every(Boolean),
  alternation: (branches) => branches.some(Boolean),
};

/**
 * The first parts of a pattern, of which each match holds a match in its first line; undefined where that is not known, or
 * where the rest of a text matches otherwise than the whole.
 */
export function firstLineOf(hir: Hir): Hir | undefined {
  if (hir.kind !== "concat" || asksForTextEnds(hir)) return undefined;
  const end = hir.of.findIndex((part) => !isWithinLine(part));
  return { kind: "concat", of: end < 0 ? hir.of : hir.of.slice(0, end) };
}

const isWithinLine = (hir: Hir): boolean => foldHir(hir, withinLine);

const withinLine: HirFold<boolean> = {
  empty: true,
  look: true,
  literal: (bytes) => !bytes.includes(newline),
  class: (ranges: readonly Range[]) => !ranges.some(([first, last]) => first <= newline && newline <= last),
  repetition: (part) => part,
  concat: (parts) => parts.every(Boolean),
  alternation: (branches) => branches.every(Boolean),
};

/** Whether `hir` asks for the start or the end of the text. */
function asksForTextEnds(hir: Hir): boolean {
  switch (hir.kind) {
    case "look":
      return hir.look === "Start" || hir.look === "End";
    case "repetition":
      return asksForTextEnds(hir.of);
    case "concat":
    case "alternation":
      return hir.of.some(asksForTextEnds);
    default:
      return false;
  }
}
