/**
 * One comparison: ours and its peers take turns within every round, so that what else the machine does hits all alike,
 * and what counts is the median of the rounds' ratios.
 */
import { fullGC } from "bun:jsc";

/** Something that is done once in every round. It may answer what it cost elsewhere than in this process. */
export type Run = () => unknown;

/** The answer of a run that let another program work. */
export class ExternalCost {
  readonly cpuMilliseconds: number;
  /** How long it worked, where it measures that itself; otherwise this process times the run. */
  readonly milliseconds: number | undefined;

  constructor(cpuMilliseconds: number, milliseconds?: number) {
    this.cpuMilliseconds = cpuMilliseconds;
    this.milliseconds = milliseconds;
  }
}

export interface Peer {
  readonly name: string;
  readonly run: Run;
  /** The most that ours may take, as a multiple of the peer's time. Absent: the row only informs. */
  readonly target?: number;
  /** It takes part in every n-th round only, because it takes long. */
  readonly every?: number;
}

export interface Comparison {
  /** Rows of one group stand together in the report. */
  readonly group: string;
  readonly name: string;
  readonly ours: Run;
  readonly peers: readonly Peer[];
  /** How often each run is repeated in a round: short ones, to be measurable. Default once. */
  readonly times?: number;
}

/** A row of the report. Times are medians in milliseconds, of one run. */
export interface Ratio {
  readonly group: string;
  readonly name: string;
  readonly peer: string;
  readonly ours: number;
  readonly theirs: number;
  /** Median over the rounds of ours divided by theirs. */
  readonly ratio: number;
  /** The smallest and the largest of these quotients. */
  readonly spread: readonly [number, number];
  readonly target: number | undefined;
  /** The same median for processor time; only where ours runs here and that of the peer is known. */
  readonly cpuRatio: number | undefined;
}

/** Milliseconds that a run is repeated for before the rounds, but at least once: a program that serves is warm. */
const warmUp = 600;

/** Runs a comparison. Throws what a run throws. */
export async function runComparison(
  { group, name, ours, peers, times = 1 }: Comparison,
  rounds: number,
): Promise<readonly Ratio[]> {
  const samples = peers.map(() => [] as { ours: Cost; theirs: Cost }[]);
  for (const run of [ours, ...peers.map(({ run }) => run)]) await repeat(run, warmUp);
  for (let round = 0; round < rounds; round++) {
    const own = await measureRun(ours, times);
    for (const [index, peer] of peers.entries()) {
      if (round % (peer.every ?? 1) === 0) {
        samples[index]!.push({ ours: own, theirs: await measureRun(peer.run, times) });
      }
    }
  }
  return peers.map((peer, index) => {
    const taken = samples[index]!;
    const quotients = taken.map((sample) => sample.ours.wall / sample.theirs.wall);
    const ofCpu = taken.flatMap(({ ours, theirs }) => (theirs.isExternal ? [ours.cpu / theirs.cpu] : []));
    return {
      group,
      name,
      peer: peer.name,
      ours: median(taken.map((sample) => sample.ours.wall)),
      theirs: median(taken.map((sample) => sample.theirs.wall)),
      ratio: median(quotients),
      spread: [Math.min(...quotients), Math.max(...quotients)],
      target: peer.target,
      cpuRatio: ofCpu.length === 0 ? undefined : median(ofCpu),
    };
  });
}

async function repeat(run: Run, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  do await run();
  while (performance.now() < end);
}

/** What a run took, in milliseconds. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
  /** Another program did the work and reported its processor time. */
  readonly isExternal: boolean;
}

async function measureRun(run: Run, times: number): Promise<Cost> {
  fullGC(); // no run pays for the garbage of another; Bun.gc would discard compiled code too
  const before = process.cpuUsage();
  const started = performance.now();
  let external: ExternalCost | undefined;
  for (let time = 0; time < times; time++) {
    const work = run();
    const result = work instanceof Promise ? await work : work;
    if (result instanceof ExternalCost) external = result;
  }
  const wall = external?.milliseconds ?? (performance.now() - started) / times;
  const { user, system } = process.cpuUsage(before);
  const here = (user + system) / 1000 / times;
  return { wall, cpu: external?.cpuMilliseconds ?? here, isExternal: external !== undefined };
}

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
