/** Returns the index of the first of some ascending numbers that is at least `limit`, or their count. */
export function firstAtLeast(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
