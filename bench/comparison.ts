/**
 * A comparison of ours with its peers. They take turns within every round, so that other load on the machine
 * slows all of them alike. The result is the median of the rounds' ratios.
 */
import { fullGC } from "bun:jsc";

/** Something done once or several times per round. It may return the cost of its work in other processes. */
export type Run = () => unknown;

/** The result of a run whose work was done by another program. */
export class ExternalCost {
  readonly cpuMilliseconds: number;
  /** The duration of the work, if the program measures it itself. Otherwise this process times the run. */
  readonly milliseconds: number | undefined;

  constructor(cpuMilliseconds: number, milliseconds?: number) {
    this.cpuMilliseconds = cpuMilliseconds;
    this.milliseconds = milliseconds;
  }
}

export interface Peer {
  readonly name: string;
  readonly run: Run;
  /** Maximum time of ours, as a multiple of the peer's. Without it, the row is for information only. */
  readonly target?: number;
  /** Number of rounds per run of this peer. A slow peer takes part in every n-th round only. */
  readonly every?: number;
}

export interface Comparison {
  /** The heading that this row shares with others in the report. */
  readonly group: string;
  readonly name: string;
  readonly ours: Run;
  readonly peers: readonly Peer[];
  /** Number of repetitions within a round, so that short runs can be measured. The default is 1. */
  readonly times?: number;
}

/** A row of the report. Times are medians in milliseconds for one run. */
export interface Ratio {
  readonly group: string;
  readonly name: string;
  readonly peer: string;
  readonly ours: number;
  readonly theirs: number;
  /** The median over the rounds of ours divided by theirs. */
  readonly ratio: number;
  /** The smallest and the largest of these quotients. */
  readonly spread: readonly [number, number];
  readonly target: number | undefined;
  /** Like `ratio`, but of processor time. `undefined` unless the peer reports its own. */
  readonly cpuRatio: number | undefined;
}

/** Minimum milliseconds of repeating each run before the rounds, so that servers are warm. */
const warmUp = 600;

/** Runs a comparison. Throws the errors of its runs. */
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

/** The duration and the processor time of one run, in milliseconds. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
  /** Whether another program did the work and reported its processor time. */
  readonly isExternal: boolean;
}

async function measureRun(run: Run, times: number): Promise<Cost> {
  fullGC(); // keeps garbage out of the next run; Bun.gc would also discard compiled code
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

/** Returns the median. For an even count, this is the mean of the two middle numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
