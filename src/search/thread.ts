/** The program of a search thread, which searches the files of batches. */

import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { serveJobs } from "../base/threads/serve.ts";
import type { WasmModule } from "../base/wasm/module.ts";
import { openFileBelow } from "../filesystem/files/file-buffer.ts";
import { RegexRuntime } from "../text/regex/regex-runtime.ts";
import { FileCursor } from "./batches/file-cursor.ts";
import { entriesOf, type Finding, type FindingSink, searchFiles } from "./batches/files.ts";
import { encodeFindings } from "./batches/findings-codec.ts";
import {
  type BatchJob,
  type BatchReply,
  batchSignals,
  type SearchJob,
  type SharedInSearch,
  type ThreadReply,
} from "./batches/job.ts";
import { KnownFiles } from "./index/known-files.ts";
import { textUnits } from "./matchers/lines.ts";
import { createThreadEngines, type ThreadEngines } from "./matchers/thread-engines.ts";
import { type ComparedFiles, type CompareJob, compareStamps } from "./signatures/compare-stamps.ts";
import type { CandidateSet } from "./signatures/content-index.ts";
import { FileRecords } from "./signatures/file-records.ts";
import type { SignJob } from "./signatures/filler.ts";
import { FileSigner, type SignedFiles } from "./signatures/sign-files.ts";
import { createSigner } from "./signatures/signature.ts";
import { createOutcomes } from "./walk/tally.ts";

serveJobs((check) => {
  let runtime: RegexRuntime | undefined;
  let engine: WasmModule | undefined;
  const engines = createThreadEngines(() => {
    runtime ??= new RegexRuntime(engine!, check);
    return runtime;
  });
  let signer: FileSigner | undefined;
  return (job: SearchJob, shared): ThreadReply => {
    const { candidates, ...others } = (shared ?? {}) as SharedInSearch;
    engine ??= others.engine;
    try {
      if ("what" in job) {
        if (job.what === "compare") return compareFiles(job, others.records!);
        signer ??= new FileSigner(createSigner());
        return signFiles(job, signer);
      }
      return searchBatch(job, engines, candidates);
    } catch (error) {
      const { name, message } = error as Error;
      return { failure: name, message };
    }
  };
});

/** Maximum milliseconds of signing files per job, because batches of searches may wait for the thread. */
const signingMilliseconds = 50;

function signFiles({ signal, ...files }: SignJob, signer: FileSigner): SignedFiles {
  const slice = createTimeSlice(signingMilliseconds);
  return signer.sign(FileCursor.over(files), {
    ...files,
    isOver: () => slice.isDue || Atomics.load(signal, 0) !== 0,
  });
}

function compareFiles({ signal, ...files }: CompareJob, records: SharedArrayBuffer): ComparedFiles {
  const isOver = () => Atomics.load(signal, 0) !== 0;
  return compareStamps(FileCursor.over(files), files, { records: new FileRecords(records), isOver });
}

/** Searches a batch. `candidates`, if any, spares it files that cannot match. */
function searchBatch(
  job: BatchJob,
  { compiler, ...engines }: ThreadEngines,
  candidates: CandidateSet | undefined,
): BatchReply {
  const sink = new Collector(job);
  const matcher = compiler.compile(job.query);
  const isOver = () => Atomics.load(job.signal, 0) === batchSignals.isOver;
  const { lines, maxFileBytes, files, after } = job;
  const outcomes = job.wantsOutcomes ? createOutcomes(files.count) : undefined;
  const open = (file: FileCursor) => openFileBelow(files.descriptors[file.folder]!, file);
  const cursor = new FileCursor({ ...files, bytes: Buffer.from(files.names, "latin1") });
  while (cursor.index < job.first - 1) cursor.next();
  const known = candidates && knownIn(job, candidates);
  const search = { ...engines, matcher, lines, open, maxFileBytes, isOver, after, outcomes, known };
  searchFiles(cursor, search, sink);
  return {
    ...encodeFindings(sink.findings, outcomes),
    ...(known && {
      inIndex: {
        unknown: new Int32Array(known.unknown),
        known: new Int32Array(known.known),
        matching: new Int32Array(known.matching),
        withoutMatch: new Int32Array(known.withoutMatch),
      },
    }),
    ...(job.wantsNeeded && { needed: compiler.needed(job.query) }),
  };
}

function knownIn(job: BatchJob, candidates: CandidateSet): KnownFiles {
  const { files, records, wantsKnown = false } = job;
  const descriptorOf = (file: FileCursor) => files.descriptors[file.folder]!;
  return new KnownFiles({ candidates, search: job, records, wantsKnown, descriptorOf });
}

class Collector implements FindingSink {
  readonly findings: Finding[] = [];
  readonly #signal: Int32Array;
  readonly wantsPaths: boolean;
  remainingEntries: number;
  remainingUnits: number;

  constructor({ wantsPaths, remainingEntries, remainingUnits, signal }: BatchJob) {
    this.#signal = signal;
    this.wantsPaths = wantsPaths;
    this.remainingEntries = remainingEntries;
    this.remainingUnits = remainingUnits;
  }

  get wantsContent(): boolean {
    return (
      this.remainingEntries > 0 &&
      this.remainingUnits > 0 &&
      Atomics.load(this.#signal, 0) !== batchSignals.contentIsOver
    );
  }

  add(finding: Finding): void {
    this.findings.push(finding);
    this.remainingEntries -= entriesOf(finding);
    this.remainingUnits -= textUnits(finding.lines);
  }
}
