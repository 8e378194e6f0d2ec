/** Compares characters and blanks of two texts that stand in each other's place. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type BlankPlace, compareBlanks } from "./blank-differences.ts";
import { compareCharacters } from "./character-differences.ts";
import type { Differences } from "./differences.ts";
import type { FoldedCharacters } from "./folded-characters.ts";

/** A part of a file, with the blanks around it. */
export interface ComparedPlace {
  readonly text: string;
  readonly startsLine: boolean;
  /** Whether the file begins with it. */
  readonly startsFile: boolean;
  /** Whether the file ends with it. */
  readonly endsFile: boolean;
  /** Whether a byte order mark precedes it. */
  readonly isMarked: boolean;
  /** Whether CRLF and LF match each other. */
  readonly ignoresEnds: boolean;
}

/** A part of a file and a sent text, read alike or one with its escapes replaced. */
export interface ComparedTexts {
  readonly found: FoldedCharacters;
  readonly sent: FoldedCharacters;
}

/** The part of a file, as the blanks at both ends of the sent text need it. */
export interface PlacedTexts extends ComparedTexts {
  readonly place: ComparedPlace;
}

const charactersPerStep = 512;

/** Compares the sent text with the equally folded one from the unit at `offset` on. */
export function* compareAligned(texts: PlacedTexts, offset: number, into: Differences): Steps<void> {
  const last = texts.sent.folded.length - 1;
  compareStart(texts, offset, into);
  for (let at = 0; at <= last; at++) {
    if (at % charactersPerStep === charactersPerStep - 1) yield;
    compareUnits(texts, [offset + at, at], into);
    if (at < last) compareGap(texts, [offset + at, at], into);
  }
  compareEnd(texts, offset + last, into);
}

/** Compares two characters. The last sent one may be a part of the one in the file, without its marks. */
export function compareUnits(
  { found, sent }: ComparedTexts,
  [unit, sentUnit]: readonly [number, number],
  into: Differences,
): void {
  const own = found.characters[found.owners[unit]!]!;
  const other = sent.characters[sent.owners[sentUnit]!]!;
  const isLast = sentUnit === sent.owners.length - 1;
  if (isLast && own.escape === other.escape && own.value.startsWith(other.value)) return;
  if (own.value !== other.value || own.escape !== other.escape) compareCharacters(own, other, into);
}

const inside: BlankPlace = { side: "inside", startsLine: false, endsLine: false, isOuter: false };

/** Compares the blanks after two units. */
export function compareGap(
  { found, sent }: ComparedTexts,
  [unit, sentUnit]: readonly [number, number],
  into: Differences,
): void {
  compareBlanks(
    { text: blanksAfter(found, unit), unescapes: found.unescapes },
    { text: blanksAfter(sent, sentUnit), unescapes: sent.unescapes },
    inside,
    into,
  );
}

/** Returns the blanks between a unit and the next, or the end of the text. */
export function blanksAfter({ text, characters, owners }: FoldedCharacters, unit: number): string {
  if (owners[unit] === owners[unit + 1]) return "";
  const from = unit < 0 ? 0 : characters[owners[unit]!]!.to;
  const to = unit + 1 >= owners.length ? text.length : characters[owners[unit + 1]!]!.from;
  return text.slice(from, to);
}

/** Compares the blanks before the sent text with those before the unit at `offset`. */
export function compareStart({ place, found, sent }: PlacedTexts, offset: number, into: Differences): void {
  const isFirst = offset === 0;
  compareBlanks(
    { text: blanksAfter(found, offset - 1), unescapes: found.unescapes },
    { text: blanksAfter(sent, -1), unescapes: sent.unescapes },
    {
      side: "start",
      startsLine: isFirst && place.startsLine,
      endsLine: false,
      isOuter: isFirst && place.startsFile,
    },
    into,
  );
}

/** Compares the blanks after the sent text with those after the unit at `end`. */
export function compareEnd({ place, found, sent }: PlacedTexts, end: number, into: Differences): void {
  const isLast = end === found.folded.length - 1 && place.endsFile;
  compareBlanks(
    { text: blanksAfter(found, end), unescapes: found.unescapes },
    { text: blanksAfter(sent, sent.folded.length - 1), unescapes: sent.unescapes },
    { side: "end", startsLine: false, endsLine: isLast, isOuter: isLast },
    into,
  );
}
