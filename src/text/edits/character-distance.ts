/** Compares texts character by character, for those too short to have runs of bytes in common. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Region } from "./splices.ts";

/** A part of a text, and the bytes to insert, remove or replace that make it equal to a pattern. */
export interface CloseMatch extends Region {
  readonly edits: number;
}

const bytesPerStep = 4096;

/**
 * Returns the first part of a text with the fewest edits to a pattern, in time proportional to the product of
 * both (Sellers, "The theory and computation of evolutionary distances", 1980).
 */
export function* findClosest(text: Buffer, pattern: Buffer): Steps<CloseMatch> {
  const rows = pattern.length + 1;
  /** The fewest edits of the first bytes of the pattern to a part that ends here, and where it begins. */
  let edits = Uint32Array.from({ length: rows }, (_, row) => row);
  let starts = new Uint32Array(rows);
  let [nextEdits, nextStarts] = [new Uint32Array(rows), new Uint32Array(rows)];
  let best: CloseMatch = { from: 0, to: 0, edits: pattern.length };
  for (let at = 0; at < text.length; at++) {
    if (at % bytesPerStep === bytesPerStep - 1) yield;
    [nextEdits[0], nextStarts[0]] = [0, at + 1];
    for (let row = 1; row < rows; row++) {
      const replaced = edits[row - 1]! + (text[at] === pattern[row - 1] ? 0 : 1);
      const [removed, inserted] = [edits[row]! + 1, nextEdits[row - 1]! + 1];
      const least = Math.min(replaced, removed, inserted);
      nextEdits[row] = least;
      nextStarts[row] =
        least === replaced ? starts[row - 1]! : least === removed ? starts[row]! : nextStarts[row - 1]!;
    }
    [edits, nextEdits] = [nextEdits, edits];
    [starts, nextStarts] = [nextStarts, starts];
    if (edits[rows - 1]! < best.edits)
      best = { from: starts[rows - 1]!, to: at + 1, edits: edits[rows - 1]! };
  }
  return best;
}
