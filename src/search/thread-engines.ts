import { FileBuffer } from "../files/file-buffer.ts";
import { createSearchKernel } from "../prefilter/kernel.ts";
import { type FindLineBounds, findLineBounds } from "../prefilter/line-bounds.ts";
import type { RegexRuntime } from "../regex/regex-runtime.ts";
import { QueryCompiler } from "./query-compiler.ts";

/** What one thread searches with, search after search. */
export interface ThreadEngines {
  readonly planner: QueryCompiler;
  /** Where the files lie that the planner's queries are asked about. */
  readonly buffer: FileBuffer;
  readonly enclose: FindLineBounds;
}

/** Tools whose patterns are compiled in the machine, which is asked for when there is one. */
export function createThreadEngines(machine: () => RegexRuntime): ThreadEngines {
  const kernel = createSearchKernel();
  return {
    planner: new QueryCompiler(machine, kernel),
    buffer: new FileBuffer(kernel?.reserve),
    enclose: kernel?.enclose ?? findLineBounds,
  };
}
