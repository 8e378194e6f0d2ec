/** Random matches, as a search finds them in a file. */
import fc from "fast-check";
import type { LineMatch } from "../matchers/lines.ts";

/** Returns matches with these texts. All of them have the fields of one search in common. */
export function lineMatches(text: fc.Arbitrary<string>): fc.Arbitrary<LineMatch[]> {
  const texts = fc.array(text, { maxLength: 3 });
  const plain = {
    line: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    column: fc.integer({ min: 1, max: 12_000 }),
    text,
  };
  const kinds: fc.Arbitrary<LineMatch>[] = [
    fc.record(plain),
    fc.record({ ...plain, before: texts }),
    fc.record({ ...plain, after: texts }),
    fc.record({ ...plain, before: texts, after: texts }),
    fc.record({ ...plain, end_column: plain.column }),
    fc.record({ ...plain, end_line: plain.line, end_column: plain.column, after: texts }),
  ];
  return fc.constantFrom(...kinds).chain((kind) => fc.array(kind, { maxLength: 5 }));
}
