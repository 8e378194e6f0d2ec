/** Counts the bytes that a model writes and reads in a job. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { JobCall } from "./jobs.ts";

/** A server over a folder with a new copy of the project. */
export interface ServedProject extends AsyncDisposable {
  call(tool: string, args: Record<string, unknown>): Promise<CallToolResult>;
}

/** The calls of a job, and the bytes of their arguments as JSON plus those of the text of their results. */
export interface Count {
  readonly calls: number;
  readonly bytes: number;
}

/** Does a job. Throws if a call fails that is not meant to miss, or if one succeeds that is. */
export async function countJob(
  calls: readonly JobCall[],
  open: () => Promise<ServedProject>,
): Promise<Count> {
  await using served = await open();
  let bytes = 0;
  for (const { tool, args, misses = false } of calls) {
    const result = await served.call(tool, args);
    if ((result.isError === true) !== misses) throw new Error(`${tool}: ${JSON.stringify(result.content)}`);
    bytes += Buffer.byteLength(JSON.stringify(args)) + textBytes(result);
  }
  return { calls: calls.length, bytes };
}

/** Returns the bytes of the text. Images are not counted, since they cost the same with either server. */
const textBytes = ({ content }: CallToolResult): number =>
  content.reduce((sum, block) => sum + (block.type === "text" ? Buffer.byteLength(block.text) : 0), 0);
