import type { Finding } from "./files.ts";
import type { LineMatch } from "./lines.ts";

/**
 * Findings as they are posted between threads: all texts in two strings, everything else as numbers. Objects take four
 * times as long, and JSON twice.
 */
export interface EncodedFindings {
  /** The texts of findings that are ASCII. */
  readonly ascii: string;
  /** The other ones: one character that takes two bytes makes all of its string take them. */
  readonly other: string;
  /**
   * Per finding its index, 1 for a match of the path, 1 for texts that are ASCII, the number of lines; per line number,
   * column, length of text.
   */
  readonly numbers: Int32Array;
}

/** Numbers of a finding, and of a line. */
const perFinding = 4;
const perLine = 3;

export function encodeFindings(findings: readonly Finding[]): EncodedFindings {
  const count = findings.reduce((sum, { lines }) => sum + lines.length, 0);
  const numbers = new Int32Array(perFinding * findings.length + perLine * count);
  let [at, ascii, other] = [0, "", ""];
  for (const { index, isInPath, lines } of findings) {
    const texts = lines.length === 1 ? lines[0]!.text : lines.map(({ text }) => text).join("");
    const isAscii = Buffer.byteLength(texts) === texts.length;
    if (isAscii) ascii += texts;
    else other += texts;
    numbers[at] = index;
    numbers[at + 1] = Number(isInPath);
    numbers[at + 2] = Number(isAscii);
    numbers[at + 3] = lines.length;
    at += perFinding;
    for (const { line, column, text } of lines) {
      numbers[at] = line;
      numbers[at + 1] = column;
      numbers[at + 2] = text.length;
      at += perLine;
    }
  }
  return { ascii, other, numbers };
}

export function* decodeFindings({ ascii, other, numbers }: EncodedFindings): Generator<Finding> {
  let at = 0;
  let [asciiStart, otherStart] = [0, 0];
  while (at < numbers.length) {
    const [index, isInPath, isAscii, count] = [
      numbers[at]!,
      numbers[at + 1]!,
      numbers[at + 2]!,
      numbers[at + 3]!,
    ];
    const texts = isAscii ? ascii : other;
    let start = isAscii ? asciiStart : otherStart;
    const lines: LineMatch[] = [];
    at += perFinding;
    for (let left = count; left > 0; left--) {
      const end = start + numbers[at + 2]!;
      lines.push({ line: numbers[at]!, column: numbers[at + 1]!, text: texts.slice(start, end) });
      start = end;
      at += perLine;
    }
    if (isAscii) asciiStart = start;
    else otherStart = start;
    yield { index, isInPath: isInPath === 1, lines };
  }
}
