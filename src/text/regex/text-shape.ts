/** Facts about a pattern's matches in a text of several lines, known before it is matched. */
import { foldHir, type Hir, type HirFold, type Range } from "./hir.ts";

const newline = 0x0a;

/** Returns whether each match lies within a line, and is the same in that line alone as in the text. */
export const matchesWithinLines = (hir: Hir): boolean => !asksForTextEnds(hir) && isWithinLine(hir);

/** Returns whether a match may be empty. */
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

/** The bytes and newlines that may occur in texts that match some parts of a pattern. */
export interface Extent {
  readonly newlines: number;
  /**
   * A mask of the bytes that may occur. Texts that are not ASCII may have any non-ASCII bytes, since decoding
   * can change those.
   */
  readonly bytes: Uint8Array;
  /** Whether any text may occur there. */
  readonly isAny: boolean;
}

/** The part of a pattern that matches in one line, and the extents of a match before and after it. */
export interface LinePart {
  readonly part: Hir;
  readonly before: Extent;
  readonly after: Extent;
}

/** Maximum parts to consider. The rest of a long pattern hardly contains the rarest. */
const maxLineParts = 8;

/**
 * Returns the first parts of a pattern that match in one line each, or none if some line may match
 * differently alone than in the text.
 */
export function linePartsOf(hir: Hir): readonly LinePart[] {
  if (asksForTextEnds(hir)) return [];
  const parts = (hir.kind === "concat" ? hir.of : [hir]).flatMap(splitAtNewlines);
  const found: LinePart[] = [];
  for (let from = 0; from < parts.length && found.length < maxLineParts; from++) {
    let to = from;
    while (to < parts.length && isWithinLine(parts[to]!)) to++;
    if (to === from) continue;
    const part: Hir = { kind: "concat", of: parts.slice(from, to) };
    found.push({ part, before: extentOf(parts.slice(0, from)), after: extentOf(parts.slice(to)) });
    from = to;
  }
  return found;
}

/** Splits a literal into the literals of its lines, and the newlines between them. */
function splitAtNewlines(hir: Hir): readonly Hir[] {
  if (hir.kind !== "literal" || !hir.bytes.includes(newline)) return [hir];
  const parts = Buffer.from(hir.bytes).toString("latin1").split(/(\n)/);
  return parts
    .filter((part) => part !== "")
    .map((part) => ({ kind: "literal", bytes: Uint8Array.from(Buffer.from(part, "latin1")) }));
}

/** Maximum newlines that are counted. Beyond it, an extent allows any number. */
const maxNewlines = 8;

/** Returns the extent of texts that match these parts one after the other. */
export function extentOf(parts: readonly Hir[]): Extent {
  const bytes = new Uint8Array(256);
  for (const part of parts) markBytes(part, bytes);
  const count = parts.reduce((sum, part) => sum + foldHir(part, newlineCount), 0);
  const newlines = count > maxNewlines ? Number.POSITIVE_INFINITY : count;
  return { newlines, bytes, isAny: newlines > maxNewlines && bytes.every((mark) => mark === 1) };
}

export const anyText: Extent = {
  newlines: Number.POSITIVE_INFINITY,
  bytes: new Uint8Array(256).fill(1),
  isAny: true,
};

const newlineCount: HirFold<number> = {
  empty: 0,
  look: 0,
  literal: (bytes) => bytes.filter((byte) => byte === newline).length,
  class: (ranges) => (hasNewline(ranges) ? 1 : 0),
  repetition: (part, { max }) => (part === 0 ? 0 : part * max),
  concat: (parts) => parts.reduce((sum, part) => sum + part, 0),
  alternation: (branches) => Math.max(0, ...branches),
};

const lastAscii = 0x7f;

/** Marks the bytes of every text that matches. */
function markBytes(hir: Hir, bytes: Uint8Array): void {
  if (hir.kind === "literal") for (const byte of hir.bytes) markRange([byte, byte], bytes);
  else if (hir.kind === "class") for (const range of hir.ranges) markRange(range, bytes);
  else if (hir.kind === "repetition") markBytes(hir.of, bytes);
  else if (hir.kind === "concat" || hir.kind === "alternation")
    for (const part of hir.of) markBytes(part, bytes);
}

function markRange([first, last]: Range, bytes: Uint8Array): void {
  bytes.fill(1, first, Math.min(last, lastAscii) + 1);
  if (last > lastAscii) bytes.fill(1, lastAscii + 1);
}

const isWithinLine = (hir: Hir): boolean => foldHir(hir, withinLine);

const withinLine: HirFold<boolean> = {
  empty: true,
  look: true,
  literal: (bytes) => !bytes.includes(newline),
  class: (ranges) => !hasNewline(ranges),
  repetition: (part) => part,
  concat: (parts) => parts.every(Boolean),
  alternation: (branches) => branches.every(Boolean),
};

const hasNewline = (ranges: readonly Range[]): boolean =>
  ranges.some(([first, last]) => first <= newline && newline <= last);

/** Returns whether the pattern has a newline that is not only one of the characters of a class. */
export const namesLineFeed = (hir: Hir): boolean => foldHir(hir, feedNames);

const feedNames: HirFold<boolean> = {
  empty: false,
  look: false,
  literal: (bytes) => bytes.includes(newline),
  class: () => false,
  repetition: (part) => part,
  concat: (parts) => parts.some(Boolean),
  alternation: (branches) => branches.some(Boolean),
};

/** Returns whether `hir` asserts the start or the end of the text. */
export function asksForTextEnds(hir: Hir): boolean {
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
