import type { Finding } from "./files.ts";
import type { LineMatch } from "./lines.ts";

/**
 * Findings as they are posted between threads: all texts as one string, everything else as numbers. Objects take four
 * times as long, and JSON twice.
 */
export interface Packed {
  readonly text: string;
  /** Per finding its index, 1 for a match of the path, the number of lines; per line number, column, length of text. */
  readonly numbers: Int32Array;
}

export function pack(findings: readonly Finding[]): Packed {
  const numbers: number[] = [];
  const texts: string[] = [];
  for (const { index, isInPath, lines } of findings) {
    numbers.push(index, isInPath ? 1 : 0, lines.length);
    for (const { line, column, text } of lines) {
      numbers.push(line, column, text.length);
      texts.push(text);
    }
  }
  return { text: texts.join(""), numbers: Int32Array.from(numbers) };
}

export function* unpack({ text, numbers }: Packed): Generator<Finding> {
  let at = 0;
  let start = 0;
  const next = () => numbers[at++] as number;
  while (at < numbers.length) {
    const index = next();
    const isInPath = next() === 1;
    const lines: LineMatch[] = [];
    for (let count = next(); count > 0; count--) {
      const line = next();
      const column = next();
      const end = start + next();
      lines.push({ line, column, text: text.slice(start, end) });
      start = end;
    }
    yield { index, isInPath, lines };
  }
}
