/** The program of a search thread: searches the files of batches. */
import { openFileBelow } from "../files/file-buffer.ts";
import { RegexRuntime } from "../regex/regex-runtime.ts";
import { serveJobs } from "../threads/serve.ts";
import type { WasmModule } from "../wasm/module.ts";
import { batchSignals } from "./batch-signals.ts";
import type { PostedFiles } from "./batches.ts";
import { FileCursor } from "./file-cursor.ts";
import { entriesOf, type Finding, type FindingSink, searchFiles } from "./files.ts";
import { type EncodedFindings, encodeFindings } from "./findings-codec.ts";
import { type LineOptions, textUnits } from "./lines.ts";
import type { Position } from "./place.ts";
import type { Query } from "./query-compiler.ts";
import { createOutcomes } from "./tally.ts";
import { createThreadEngines, type ThreadEngines } from "./thread-engines.ts";

/** What starts a search thread. */
export interface SearchThreadData {
  /** The regex engine, compiled. */
  readonly engine: WasmModule;
}

/** A batch, as a message to a thread. */
export interface BatchJob {
  readonly query: Query;
  readonly lines: LineOptions;
  readonly maxFileBytes: number;
  readonly wantsPaths: boolean;
  /** Entries for matches in contents that the answer still takes. */
  readonly remainingEntries: number;
  /** UTF-16 units of their texts that the answer still takes. */
  readonly remainingUnits: number;
  /** See `FileSearch.after`. */
  readonly after: Position | undefined;
  /** Whether to say what became of each file. */
  readonly wantsOutcomes: boolean;
  /** One of `batchSignals`, or 0. */
  readonly signal: Int32Array;
  readonly files: PostedFiles;
}

/** The findings; or the failure, with the name of its class, which an error loses in a message. */
export type BatchReply = EncodedFindings | { readonly failure: string; readonly message: string };

serveJobs(({ engine }: SearchThreadData, check) => {
  let runtime: RegexRuntime | undefined;
  const engines = createThreadEngines(() => {
    runtime ??= new RegexRuntime(engine, check);
    return runtime;
  });
  return (job: BatchJob): BatchReply => {
    try {
      return searchBatch(job, engines);
    } catch (error) {
      const { name, message } = error as Error;
      return { failure: name, message };
    }
  };
});

function searchBatch(job: BatchJob, { compiler, ...engines }: ThreadEngines): EncodedFindings {
  const sink = new Collector(job);
  const matcher = compiler.compile(job.query);
  const isOver = () => Atomics.load(job.signal, 0) === batchSignals.isOver;
  const { lines, maxFileBytes, files, after } = job;
  const outcomes = job.wantsOutcomes ? createOutcomes(files.count) : undefined;
  const open = (file: FileCursor) => openFileBelow(files.descriptors[file.folder]!, file);
  const cursor = new FileCursor({ ...files, bytes: Buffer.from(files.names, "latin1") });
  searchFiles(cursor, { ...engines, matcher, lines, open, maxFileBytes, isOver, after, outcomes }, sink);
  return encodeFindings(sink.findings, outcomes);
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
