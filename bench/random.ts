import type { Random } from "../tests/harness/random.ts";

/** Log-normal: half of the numbers are below `median`; files on a disk are spread like this. */
export function sampleLogNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return median * Math.exp(sigma * normal);
}
