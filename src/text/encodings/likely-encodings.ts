/** Guesses at the encoding of a file that nothing names: for doubts and advice, and never to decode it. */
import { createCodec, type Encoding, encodingName } from "./codec.ts";

/** Bytes on each side of a place that are examined. */
const sampleBytes = 32 * 1024;

/** Returns the bytes around `at`, from the start of a line if that is not far. */
export function sampleAround(file: Buffer, at: number): Buffer {
  const from = Math.max(0, at - sampleBytes);
  const start = from === 0 ? 0 : file.indexOf(0x0a, from) + 1;
  return file.subarray(start > 0 && start <= at ? start : from, at + sampleBytes);
}

/** Returns whether at most a share of the characters beyond ASCII, a third by default, is invalid. */
export function isMostlyValid(sample: Buffer, encoding: Encoding, share = 1 / 3): boolean {
  const strange =
    createCodec(encoding)
      .decode(sample)
      .match(/[^\0-\x7f]/gu) ?? [];
  const invalid = strange.filter((character) => character === "\ufffd").length;
  return strange.length > 0 && invalid <= strange.length * share;
}

/** Encodings to try before one of single bytes. */
const multibyte: readonly Encoding[] = ["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"];

/** Returns encodings that the file may be in, the likeliest first, as examples to send. */
export function likelyEncodings(file: Buffer): Encoding[] {
  const sample = sampleAround(file, firstBeyondAscii(file));
  if (isMostlyValid(sample, "utf-8")) return ["utf-8"];
  const found = multibyte.filter((encoding) => isMostlyValid(sample, encoding));
  const runs = sample.toString("latin1").match(/[\x80-\xff]+/g) ?? [];
  // Accents stand alone, and most characters of several bytes have two of these.
  const isWestern = runs.filter((run) => run.length === 1).length * 2 > runs.length;
  return isWestern ? ["windows-1252", ...found] : [...found, "windows-1252"];
}

function firstBeyondAscii(file: Buffer): number {
  for (let at = 0; at < file.length; at++) if (file[at]! >= 0x80) return at;
  return 0;
}

/** Lists encodings as the values of a field. */
export const listEncodings = (encodings: readonly Encoding[]): string =>
  alternatives(encodings.map((encoding) => `"${encoding}"`));

/** Lists encodings by their names. */
export const nameEncodings = (encodings: readonly Encoding[]): string =>
  alternatives(encodings.map(encodingName));

const alternatives = (all: readonly string[]): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
