import type { Steps } from "../../base/scheduling/time-slice.ts";
import { decodeInSteps, type Encoding } from "../encodings/codec.ts";
import { isMostlyValid, sampleAround } from "../encodings/likely-encodings.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import type { Matches } from "./str-replace.ts";

/** Encodings whose characters may end in a byte that is also ASCII. */
const withAsciiInside: readonly Encoding[] = ["shift_jis", "gb18030", "big5", "euc-kr"];

/** The first byte that may follow another one in a character of these encodings. */
const firstInside = 0x30;

/**
 * Returns possible encodings of the bytes that make some matches begin inside a character. Text that is
 * mostly valid UTF-8 has none.
 */
export function* encodingsThatSplit(body: Buffer, matches: Matches): Steps<Encoding[]> {
  const { needle, starts, count } = matches;
  // The characters of ISO-2022-JP follow an escape sequence, and all their bytes are those of ASCII.
  if (body.includes("\x1b$")) return yield* splitting(body, matches, ["iso-2022-jp"]);
  if (needle[0]! < firstInside || needle[0]! >= 0x80) return [];
  const suspect = starts.find((at) => at > 0 && body[at - 1]! >= 0x80);
  if (starts.length === count && suspect === undefined) return [];
  const sample = sampleAround(body, suspect ?? starts.at(-1)!);
  // A short text in another encoding may be valid by chance in larger part.
  if (isMostlyValid(sample, "utf-8", 1 / 10)) return [];
  const possible = withAsciiInside.filter((encoding) => isMostlyValid(sample, encoding));
  return yield* splitting(body, matches, possible);
}

/** Returns the encodings that decode the bytes to a text with fewer matches. */
function* splitting(
  body: Buffer,
  { needle, count }: Matches,
  encodings: readonly Encoding[],
): Steps<Encoding[]> {
  const found: Encoding[] = [];
  for (const encoding of encodings) {
    const text = yield* decodeInSteps(body, encoding);
    if ((yield* countMatches(text, needle)) < count) found.push(encoding);
  }
  return found;
}

function* countMatches(text: Buffer, needle: Buffer): Steps<number> {
  const searcher = new ByteSearcher(needle);
  let count = 0;
  let at = yield* searcher.find(text, 0);
  while (at >= 0) {
    if (++count % matchesPerStep === 0) yield;
    at = yield* searcher.find(text, at + needle.length);
  }
  return count;
}

/** Matches that are counted in one step. */
const matchesPerStep = 16_384;
