/** Workers that serve one tree during a storm, one for each way to find files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Subject } from "../harness/subject.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";

/** The way a worker finds files. */
export type StormIndex = "off" | "verified" | "watched";

export interface StormAnswer {
  readonly content_matches: readonly { readonly path: string; readonly text: string }[];
  readonly truncated: boolean;
  readonly index: string;
}

/** A worker that serves the tree of the storm. */
export interface StormWorker {
  readonly index: StormIndex;
  readonly base: string;
  readonly served: WorkerFixture;
  /** Returns all matches. Throws if the call fails or its answer is truncated. */
  search(query: StormQuery): Promise<StormAnswer>;
  /** Reads a file that always exists. Throws if the call fails or returns another text. */
  readShort(): Promise<void>;
  /** Resolves once searches are answered by the index. */
  untilIndexed(): Promise<void>;
}

export interface StormQuery {
  readonly query: string;
  readonly regex?: boolean;
  readonly ignore_case?: boolean;
}

const shortText = `${"short ".repeat(170)}\n`;

/** Starts a worker that scans, and one for each of `indexes`, all with one tree of `files`. */
export async function startStormWorkers(
  subject: Subject,
  files: ReadonlyMap<string, string>,
  indexes: readonly StormIndex[] = ["verified", "watched"],
): Promise<StormWorker[]> {
  const scan = await startStormWorker(subject, "off");
  for (const [path, text] of [...files, ["kept/short.txt", shortText] as const]) {
    mkdirSync(dirname(join(scan.base, path)), { recursive: true });
    writeFileSync(join(scan.base, path), text);
  }
  for (let folder = 0; folder < 20; folder++)
    mkdirSync(join(scan.base, `storm/d${folder}`), { recursive: true });
  const others = [];
  for (const index of indexes) others.push(await startStormWorker(subject, index, scan.base));
  return [scan, ...others];
}

async function startStormWorker(subject: Subject, index: StormIndex, base?: string): Promise<StormWorker> {
  const config = { index, call_timeout_ms: 100_000, ...(base !== undefined && { base_path: base }) };
  const served = await startWorker(subject, config);
  const call = async (functionId: string, payload: unknown): Promise<unknown> => {
    const { answer, error } = await served.call(functionId, payload);
    if (error !== undefined) throw error;
    return answer;
  };
  const search = async (query: StormQuery) => {
    const all = { search_paths: false, max_matches: 1_000_000, max_bytes: 10_000_000 };
    const answer = (await call("coder::search", { ...query, ...all })) as StormAnswer;
    if (answer.truncated) throw new Error(`the answer to ${query.query} was cut`);
    return answer;
  };
  return {
    index,
    base: base ?? served.base,
    served,
    search,
    async readShort() {
      const { content } = (await call("coder::read-file", { path: "kept/short.txt" })) as { content: string };
      if (content !== shortText) throw new Error("another text was read");
    },
    async untilIndexed() {
      // Nothing reports that the index is filled, which happens between searches.
      while ((await search({ query: "absent" })).index !== index) await pause(20);
      await search({ query: "absent" });
    },
  };
}
