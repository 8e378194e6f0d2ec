import type { Steps } from "../../base/scheduling/time-slice.ts";
import { decodeInSteps, type Encoding } from "../encodings/codec.ts";
import { ByteSearcher } from "./byte-searcher.ts";
import type { Matches } from "./str-replace.ts";

/** The encodings in which a byte of ASCII may also be the second or the last of a character. */
const withAsciiInside: readonly Encoding[] = ["shift_jis", "gb18030", "big5", "euc-kr"];

/**
 * Returns an encoding in which these bytes may be written, and in which some of the matches begin inside a
 * character. Returns `undefined` if no such encoding remains, or if the bytes are UTF-8 but for a few.
 */
export function* encodingThatSplits(
  body: Buffer,
  { needle, starts, count }: Matches,
): Steps<Encoding | undefined> {
  const suspect = starts.find((at) => at > 0 && body[at - 1]! >= 0x80);
  if (needle[0]! >= 0x80 || (starts.length === count && suspect === undefined)) return undefined;
  if (isMostlyUtf8(body, suspect ?? starts.at(-1)!)) return undefined;
  for (const encoding of withAsciiInside) {
    const text = yield* decodeInSteps(body, encoding);
    if (!text.includes("\ufffd") && (yield* countMatches(text, needle)) < count) return encoding;
  }
  return undefined;
}

/** Bytes on each side of a match that are examined. */
const sampleBytes = 32 * 1024;

/**
 * Returns whether at most a tenth of what is not ASCII around `at` is invalid in UTF-8. Of a text in another
 * encoding, most is.
 */
function isMostlyUtf8(body: Buffer, at: number): boolean {
  const sample = body.toString("utf8", Math.max(0, at - sampleBytes), at + sampleBytes);
  const strange = sample.match(/[^\0-\x7f]/gu) ?? [];
  const invalid = strange.filter((character) => character === "\ufffd").length;
  return invalid * 10 <= strange.length;
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
