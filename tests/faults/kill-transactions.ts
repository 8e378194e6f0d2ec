/**
 * Kills a worker at the calls of the file system that a transaction of many changes makes, and kills the
 * starts after it, and checks what the last start leaves.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, randomFrom } from "../harness/random.ts";
import { bundled, repository } from "../harness/subject.ts";
import { buildTree, type Snapshot, snapshotTree, type Tree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

export interface KillOptions {
  readonly seed: number;
  /** The number of calls of the transaction to try. Default: all. */
  readonly points?: number;
  /** The number of starts to kill at a random call before the one that may finish. */
  readonly killedStarts: number;
  /** Whether to run without the features that only Bun has: the exchange of names and locks on files. */
  readonly asNode: boolean;
  /** Whether to use two roots, with changes from one into the other. Default: one base. */
  readonly inRoots?: boolean;
  /** The number of points to try at once. Default: 1. */
  readonly jobs?: number;
  /** Called with the progress after each point. */
  readonly onPoint?: (progress: KillProgress) => void;
}

export interface KillProgress {
  readonly tried: number;
  readonly points: number;
  /** The faults of this point. */
  readonly faults: readonly string[];
}

export interface KillReport {
  /** The number of calls of the file system that the transaction makes. */
  readonly calls: number;
  /** The number of killed transactions; `killedStarts` counts the starts killed after one. */
  readonly kills: number;
  readonly killedStarts: number;
  /** The number of transactions that are complete in the end; `takenBack` counts those that left nothing. */
  readonly done: number;
  readonly takenBack: number;
  /** Trees that are neither as before nor as after, and temporary entries and records that are left. */
  readonly faults: readonly string[];
}

const tree: Tree = {
  "edited-1.txt": "1\n",
  "edited-2.txt": { text: "2\n", mode: 0o600 },
  "removed.txt": "removed\n",
  "removed/a": "a\n",
  "removed/deep/b": { text: "b\n", mode: 0o755 },
  "removed/empty/": { mode: 0o700 },
  "removed/link": { link: "../copied.txt" },
  link: { link: "copied.txt" },
  "moved.txt": "moved\n",
  "folder/edited-3.txt": "3\n",
  "folder/inner/edited-4.txt": "4\n",
  "over.txt": "over\n",
  "under.txt": "under\n",
  "copied.txt": "copied\n",
  "original/deep/d.txt": "d\n",
  "original/e.txt": "e\n",
  "moded.txt": "moded\n",
};

const treeOfRoots: Tree = {
  "one/folder/deep/f.txt": { text: "f\n", mode: 0o755 },
  "one/folder/empty/": { mode: 0o700 },
  "one/whole/a.txt": "a\n",
  "one/whole/link": { link: "a.txt" },
  "one/over.txt": "over\n",
  "one/link": { link: "over.txt" },
  "one/removed/r.txt": "r\n",
  "one/original/o.txt": "o\n",
  "two/edited.txt": "e\n",
  "two/moved.txt": "moved\n",
};

const rootsIn = (base: string) => ["one", "two"].map((name) => ({ name, path: join(base, name) }));

/** Kills the transaction at each point, and reports the outcomes. */
export async function killTransactions(options: KillOptions): Promise<KillReport> {
  const sites = Array.from({ length: options.jobs ?? 1 }, () => new KillSite(options));
  try {
    const expected = await sites[0]!.measure();
    const points = pointsOf(expected.calls, options);
    const counts = { kills: 0, killedStarts: 0, done: 0, takenBack: 0 };
    const faults: string[] = [];
    const waiting = points.entries();
    let tried = 0;
    const tryPoints = async (site: KillSite): Promise<void> => {
      for (const [, point] of waiting) {
        const found = await site.killAt(point, expected);
        for (const name of ["kills", "killedStarts", "done", "takenBack"] as const)
          counts[name] += found[name];
        faults.push(...found.faults);
        options.onPoint?.({ tried: ++tried, points: points.length, faults: found.faults });
      }
    };
    await Promise.all(sites.map(tryPoints));
    return { calls: expected.calls, ...counts, faults };
  } finally {
    for (const site of sites) site.close();
  }
}

/** The number of calls of a transaction, and the tree before and after it. */
interface Measured {
  readonly calls: number;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Returns the numbers of evenly spread calls, shifted by the seed. The last call is one of them. */
function pointsOf(calls: number, { points = calls, seed }: Pick<KillOptions, "points" | "seed">): number[] {
  const shift = Math.floor(((seed % 100) / 100) * (calls / points));
  const pointAt = (index: number) =>
    index === 0 ? calls : Math.max(1, calls - Math.floor((index * calls) / points) - shift);
  return Array.from({ length: points }, (_, index) => pointAt(index)).toReversed();
}

export interface RunOutcome {
  readonly isKilled: boolean;
  /** The number of calls of the file system; `undefined` if it did not finish. */
  readonly calls: number | undefined;
  readonly log: string;
}

interface RunOptions {
  /** The folder with `config.yaml`, `base` and `state`. */
  readonly root: string;
  readonly asNode: boolean;
  readonly killAt?: number | undefined;
}

/** Runs transaction-child.ts until it ends or is killed. */
export function runTransactionChild(
  mode: "transact" | "start" | "count" | "edit",
  { root, asNode, killAt }: RunOptions,
): Promise<RunOutcome> {
  const preload = join(repository, "tests/faults/kill-at.ts");
  const script = bundled("tests/faults/transaction-child.ts");
  const child = spawn(process.execPath, ["--preload", preload, script, mode, join(root, "config.yaml")], {
    env: {
      ...process.env,
      XDG_STATE_HOME: join(root, "state"),
      ...(killAt !== undefined && { KILL_AT: String(killAt) }),
      ...(asNode && { AS_NODE: "1" }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, log] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (log += data.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const calls = code === 0 ? Number.parseInt(output, 10) : undefined;
      resolve({ isKilled: signal === "SIGKILL", calls, log });
    });
  });
}

class KillSite {
  readonly #root = temporaryFolder();
  readonly #config = join(this.#root, "config.yaml");
  readonly #options: KillOptions;

  constructor(options: KillOptions) {
    this.#options = options;
  }

  /** Restores the initial tree, with an empty state folder. */
  reset(): void {
    const { inRoots = false } = this.#options;
    const base = join(this.#root, "base");
    buildTree(this.#root, inRoots ? treeOfRoots : tree);
    writeFileSync(this.#config, JSON.stringify(inRoots ? { roots: rootsIn(base) } : { base_path: base }));
    mkdirSync(join(this.#root, "state"));
  }

  async measure(): Promise<Measured> {
    this.reset();
    const before = this.snapshot();
    const { calls, log } = await this.run("transact");
    if (calls === undefined) throw new Error(`the transaction fails when it is left alone: ${log}`);
    return { calls, before, after: this.snapshot() };
  }

  /**
   * Kills the transaction at call `point`, and the starts after it, and checks what the last start leaves.
   */
  async killAt(point: number, { before, after }: Measured): Promise<Omit<KillReport, "calls">> {
    this.reset();
    const faults: string[] = [];
    const { isKilled } = await this.run("transact", point);
    if (!isKilled) faults.push(`call ${point}: the transaction was not killed`);
    const killedStarts = await this.#killStarts(randomFrom(this.#options.seed + point));
    const start = await this.run("start");
    if (start.calls === undefined) faults.push(`call ${point}: the last start failed: ${start.log}`);
    const found = this.snapshot();
    const isDone = isEqual(found, after);
    const isTakenBack = isEqual(found, before);
    if (!isDone && !isTakenBack)
      faults.push(`call ${point}: the tree is neither before nor after: ${differences(found, before)}`);
    faults.push(...this.records().map((name) => `call ${point}: the record ${name} is left`));
    return {
      kills: Number(isKilled),
      killedStarts,
      done: Number(isDone && !isTakenBack),
      takenBack: Number(isTakenBack),
      faults,
    };
  }

  /** Kills starts at random calls until one ends by itself. Returns the number of kills. */
  async #killStarts(random: Random): Promise<number> {
    for (let killed = 0; killed < this.#options.killedStarts; killed++) {
      const { isKilled } = await this.run("start", 1 + random.below(random.pick(callsOfStart)));
      if (!isKilled) return killed;
    }
    return this.#options.killedStarts;
  }

  run(mode: "transact" | "start", killAt?: number): Promise<RunOutcome> {
    return runTransactionChild(mode, { root: this.#root, asNode: this.#options.asNode, killAt });
  }

  /** The content of the base, including temporary entries. */
  snapshot(): Snapshot {
    return new Map([...snapshotTree(this.#root)].filter(([key]) => !key.startsWith("../")));
  }

  records(): string[] {
    const folder = join(this.#root, "state/coder");
    if (!existsSync(folder)) return [];
    return (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /intents\/./.test(name));
  }

  close(): void {
    rmSync(this.#root, { recursive: true });
  }
}

/** The calls of a start that has little to take back, and of one that takes back a whole transaction. */
const callsOfStart = [80, 1_600];

const isEqual = (one: Snapshot, other: Snapshot): boolean => Bun.deepEquals(one, other);

function differences(found: Snapshot, wanted: Snapshot): string {
  const keys = [...new Set([...found.keys(), ...wanted.keys()])];
  return keys.filter((key) => !Bun.deepEquals(found.get(key), wanted.get(key))).join(", ");
}
