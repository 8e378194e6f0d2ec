/** Up to this part of all, finding the smallest is cheaper than sorting. */
const worthwhilePart = 1 / 4;

/**
 * The `count` smallest of `texts`, or all there are, sorted by UTF-16 code units. Few of very many cost little more than
 * looking at each: what is larger than the `count` smallest so far is passed over.
 */
export function smallest(texts: readonly string[], count: number): string[] {
  if (count > texts.length * worthwhilePart) return texts.toSorted().slice(0, count);
  if (count <= 0) return [];
  const kept: string[] = [];
  let bound: string | undefined;
  for (const text of texts) {
    if (bound !== undefined && text >= bound) continue;
    if (kept.push(text) < 2 * count) continue;
    kept.sort().length = count;
    bound = kept[count - 1];
  }
  return kept.sort().slice(0, count);
}
