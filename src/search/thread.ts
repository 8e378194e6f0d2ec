/** The program of a search thread: searches the files of batches. */
import { openFileBelow } from "../files/file-buffer.ts";
import { RegexRuntime } from "../regex/regex-runtime.ts";
import { serveJobs } from "../threads/serve.ts";
import type { WasmModule } from "../wasm/module.ts";
import type { PostedFiles } from "./batches.ts";
import { FileCursor } from "./file-cursor.ts";
import { type Finding, type FindingSink, searchFiles } from "./files.ts";
import { type EncodedFindings, encodeFindings } from "./findings-codec.ts";
import { type LineOptions, textUnits } from "./lines.ts";
import type { Query } from "./query-compiler.ts";
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
  /** Matching lines that the answer still takes. */
  readonly remainingLines: number;
  /** Bytes of text that the answer still takes. */
  readonly remainingText: number;
  /** Not 0 when the search has ended. */
  readonly over: Int32Array;
  readonly files: PostedFiles;
}

/** The findings; or the failure, with the name of its class, which an error loses in a message. */
export type BatchReply = EncodedFindings | { readonly failure: string; readonly message: string };

serveJobs(({ engine }: SearchThreadData, check) => {
  let machine: RegexRuntime | undefined;
  const engines = createThreadEngines(() => {
    machine ??= new RegexRuntime(engine, check);
    return machine;
  });
  return (job: BatchJob): BatchReply => {
    try {
      return encodeFindings(searchBatch(job, engines));
    } catch (error) {
      const { name, message } = error as Error;
      return { failure: name, message };
    }
  };
});

function searchBatch(job: BatchJob, { compiler, ...engines }: ThreadEngines): Finding[] {
  const sink = new Collector(job);
  const matcher = compiler.compile(job.query);
  const isOver = () => Atomics.load(job.over, 0) !== 0;
  const { lines, maxFileBytes, files } = job;
  const open = (file: FileCursor) => openFileBelow(files.descriptors[file.folder]!, file);
  const cursor = new FileCursor({ ...files, bytes: Buffer.from(files.names, "latin1") });
  searchFiles(cursor, { ...engines, matcher, lines, open, maxFileBytes, isOver }, sink);
  return sink.findings;
}

class Collector implements FindingSink {
  readonly findings: Finding[] = [];
  readonly wantsPaths: boolean;
  remainingLines: number;
  #remainingText: number;

  constructor({ wantsPaths, remainingLines, remainingText }: BatchJob) {
    this.wantsPaths = wantsPaths;
    this.remainingLines = remainingLines;
    this.#remainingText = remainingText;
  }

  get wantsContent(): boolean {
    return this.remainingLines > 0 && this.#remainingText > 0;
  }

  add(finding: Finding): void {
    this.findings.push(finding);
    this.remainingLines -= finding.lines.length;
    this.#remainingText -= textUnits(finding.lines);
  }
}
