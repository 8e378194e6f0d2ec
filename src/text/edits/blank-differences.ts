/** Names the differences between the blanks before, between and after the characters of two texts. */
import type { DifferenceKind, Differences } from "./differences.ts";
import { escapeSequence, invisiblePattern, otherSpacePattern, unescapeAll } from "./folded-characters.ts";

/** Blanks of a text, and whether its escapes stand for other characters. */
export interface Blanks {
  readonly text: string;
  readonly unescapes: boolean;
}

/**
 * The place of blanks in the sent text. At its start and its end it may have only a part of those of the
 * file.
 */
export interface BlankPlace {
  readonly side: "start" | "inside" | "end";
  /** Whether nothing but blanks precedes them in their line of the file. */
  readonly startsLine: boolean;
  /** Whether nothing but blanks follows them in their line of the file. */
  readonly endsLine: boolean;
  /** Whether the file begins or ends there. */
  readonly isOuter: boolean;
}

/** Blanks between line ends: one more of the first than of the second. */
interface SplitBlanks {
  readonly parts: readonly string[];
  readonly ends: readonly string[];
}

/** Adds the differences between blanks of the file and those sent in their place. */
export function compareBlanks(found: Blanks, sent: Blanks, place: BlankPlace, into: Differences): void {
  if (found.text === sent.text) return;
  const [own, other] = [found, sent].map(({ text, unescapes }) => (unescapes ? unescapeAll(text) : text));
  compareEscapes(found, sent, place, into);
  compareSpecial(own!, other!, place, into);
  const [plain, plainSent] = [own!, other!].map(plainBlanks);
  compareLines(splitBlanks(plain!), splitBlanks(plainSent!), place, into);
}

const plainBlanks = (blanks: string): string =>
  blanks.replace(otherSpacePattern, " ").replace(invisiblePattern, "");

function compareEscapes(found: Blanks, sent: Blanks, { side }: BlankPlace, into: Differences): void {
  const [own, other] = [found, sent].map(({ text, unescapes }) =>
    unescapes ? (text.match(escapeSequence) ?? []) : [],
  );
  const isPart = isPartOf(own!.join(""), other!.join(""), side);
  if (isPart && (side === "inside" || own!.length === other!.length || sent.text === "")) return;
  into.add("escapes", [...other!, ...own!][0] ?? "");
}

/** Returns whether the sent text is what the file has there, or the part of it on that side. */
function isPartOf(found: string, sent: string, side: BlankPlace["side"]): boolean {
  if (side === "inside") return found === sent;
  return side === "start" ? found.endsWith(sent) : found.startsWith(sent);
}

/** Compares invisible characters, and blanks that are neither spaces nor tabs. */
function compareSpecial(found: string, sent: string, { side }: BlankPlace, into: Differences): void {
  const { length } = sent;
  const near =
    side === "inside"
      ? found
      : side === "end"
        ? found.slice(0, length)
        : found.slice(-length || found.length);
  for (const [kind, form] of [
    ["spaces", otherSpacePattern],
    ["invisible", invisiblePattern],
  ] as const) {
    const [own, other] = [near, sent].map((text) => text.match(form) ?? []);
    if (own!.join("") !== other!.join("")) into.add(kind, [...other!, ...own!][0]);
  }
}

function splitBlanks(blanks: string): SplitBlanks {
  const [parts, ends]: [string[], string[]] = [[], []];
  for (const [at, part] of blanks.split(/(\r\n|\r|\n)/).entries()) (at % 2 === 0 ? parts : ends).push(part);
  return { parts, ends };
}

function compareLines(found: SplitBlanks, sent: SplitBlanks, place: BlankPlace, into: Differences): void {
  const { side } = place;
  const counts = [found.ends.length, sent.ends.length] as const;
  const kind = countKind(counts, place);
  if (kind !== undefined) into.add(kind);
  if (kind === "text" || kind === "breaks") return;
  const common = Math.min(...counts);
  const [own, other] = side === "inside" ? [found, sent] : [found, sent].map((all) => cut(all, common, side));
  const [{ parts, ends }, { parts: sentParts, ends: sentEnds }] = [own!, other!];
  if (differInEnds(ends, sentEnds)) into.add("lineEnds");
  const lineKind = lineKindOf(place, counts[0] > common);
  const { length } = sentParts;
  if (common === 0) {
    compareRuns([parts[0]!, sentParts[0]!], lineKind, side, into);
    return;
  }
  compareRuns([parts[0]!, sentParts[0]!], "trailing", side === "start" ? side : "inside", into);
  const lastKind = side === "end" ? (lineKind === "trailing" ? lineKind : "indent") : "indent";
  compareRuns([parts.at(-1)!, sentParts.at(-1)!], lastKind, side === "end" ? side : "inside", into);
  if (parts.length !== length) return;
  for (let at = 1; at < length - 1; at++)
    compareRuns([parts[at]!, sentParts[at]!], "trailing", "inside", into);
}

/** Returns the kind of a difference in the number of line ends. */
function countKind(
  [count, sentCount]: readonly [number, number],
  { side, isOuter }: BlankPlace,
): DifferenceKind | undefined {
  if (count === sentCount || (side !== "inside" && count > sentCount)) return undefined;
  if (side === "inside") return count === 0 || sentCount === 0 ? "breaks" : "blankLines";
  if (count === 0 && !isOuter) return "text";
  return side === "end" ? "lastBreaks" : "blankLines";
}

/** Returns the part of blanks with `count` line ends that touches the sent text. */
function cut({ parts, ends }: SplitBlanks, count: number, side: BlankPlace["side"]): SplitBlanks {
  return side === "start"
    ? { parts: parts.slice(parts.length - count - 1), ends: ends.slice(ends.length - count) }
    : { parts: parts.slice(0, count + 1), ends: ends.slice(0, count) };
}

/**
 * Returns the kind of a difference in blanks without line ends. `isCut` is whether the file has line ends
 * beyond them.
 */
function lineKindOf({ side, startsLine, endsLine }: BlankPlace, isCut: boolean): DifferenceKind {
  if (startsLine || (side === "start" && isCut)) return "indent";
  return endsLine || (side === "end" && isCut) ? "trailing" : "spacing";
}

/** Returns whether line ends differ one by one, or in their kinds if their numbers differ. */
function differInEnds(ends: readonly string[], sentEnds: readonly string[]): boolean {
  if (ends.length === sentEnds.length) return ends.some((end, at) => end !== sentEnds[at]);
  return [...new Set(ends)].toSorted().join() !== [...new Set(sentEnds)].toSorted().join();
}

/** Compares spaces and tabs. At a side, the file may have more of them. */
function compareRuns(
  [found, sent]: readonly [string, string],
  kind: DifferenceKind,
  side: BlankPlace["side"],
  into: Differences,
): void {
  if (isPartOf(found, sent, side)) return;
  const most = Math.min(found.length, sent.length);
  let [same, sameEnd] = [0, 0];
  while (same < most && found[same] === sent[same]) same++;
  while (sameEnd < most - same && found.at(-1 - sameEnd) === sent.at(-1 - sameEnd)) sameEnd++;
  const rest = [found, sent].map((run) => run.slice(same, run.length - sameEnd));
  const isOfOtherBlanks = rest.every((run) => run !== "") && kind !== "trailing";
  into.add(isOfOtherBlanks ? "tabs" : kind);
}
