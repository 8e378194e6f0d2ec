import { FileBuffer } from "../../filesystem/files/file-buffer.ts";
import { createSearchKernel } from "../../text/prefilter/kernel.ts";
import { type FindLineBounds, findLineBounds } from "../../text/prefilter/line-bounds.ts";
import type { RegexRuntime } from "../../text/regex/regex-runtime.ts";
import { QueryCompiler } from "./query-compiler.ts";

/** The engines that one thread keeps from search to search. */
export interface ThreadEngines {
  readonly compiler: QueryCompiler;
  /** The buffer for the file that a matcher searches, in the kernel's memory if there is a kernel. */
  readonly buffer: FileBuffer;
  readonly lineBounds: FindLineBounds;
}

/** Creates the engines. Gets the regex runtime when there is a pattern to compile. */
export function createThreadEngines(runtime: () => RegexRuntime): ThreadEngines {
  const kernel = createSearchKernel();
  return {
    compiler: new QueryCompiler(runtime, kernel),
    buffer: new FileBuffer(kernel?.reserve),
    lineBounds: kernel?.lineBounds ?? findLineBounds,
  };
}
