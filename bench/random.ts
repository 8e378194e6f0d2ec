import type { Random } from "../tests/harness/random.ts";

/**
 * Returns a log-normal sample, as the sizes of files on a disk are: half of all samples are below `median`.
 */
export function sampleLogNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return median * Math.exp(sigma * normal);
}
