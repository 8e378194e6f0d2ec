import { diffWordsWithSpace } from "diff";
import type { DiffLine } from "./lines.ts";

/** A part of a line that differs from the other side: from one place to before another. */
export type Mark = readonly [from: number, to: number];

/** Maximum characters of a line whose words are compared. */
const maxCharacters = 600;

const known = new WeakMap<DiffLine, readonly Mark[]>();

/** Returns the words of a line that differ from the line that it replaces, or that replaces it. */
export function marksOf(line: DiffLine): readonly Mark[] {
  const { other } = line;
  if (other === undefined) return [];
  if (!known.has(line)) {
    const [removed, added] = line.sign === "-" ? [line, other] : [other, line];
    const marks = compareWords(removed.text, added.text);
    known.set(removed, marks.removed);
    known.set(added, marks.added);
  }
  return known.get(line)!;
}

function compareWords(before: string, after: string): { removed: Mark[]; added: Mark[] } {
  const marks = { removed: [] as Mark[], added: [] as Mark[] };
  if (before.length > maxCharacters || after.length > maxCharacters) return marks;
  let [old, now, same] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) marks.removed.push([old, old + value.length]);
    if (added) marks.added.push([now, now + value.length]);
    if (!added && !removed) same += value.trim().length;
    if (!added) old += value.length;
    if (!removed) now += value.length;
  }
  // Lines with little in common are not two versions of one line.
  const isRelated = same * 4 >= Math.min(before.trim().length, after.trim().length);
  return isRelated ? marks : { removed: [], added: [] };
}
