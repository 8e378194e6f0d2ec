/** Counts what a model writes and is shown while a job is done. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { JobCall } from "./jobs.ts";

/** A server over a folder that holds the project as it was at first. */
export interface ServedProject extends AsyncDisposable {
  call(tool: string, args: Record<string, unknown>): Promise<CallToolResult>;
}

/** What a job takes: its calls, and the bytes of their arguments as JSON and of the text of their results. */
export interface Count {
  readonly calls: number;
  readonly bytes: number;
}

/** Does a job. Throws when another call than one that is meant to miss fails. */
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

/** Images are shown as such, and cost what they measure with either server. */
const textBytes = ({ content }: CallToolResult): number =>
  content.reduce((sum, block) => sum + (block.type === "text" ? Buffer.byteLength(block.text) : 0), 0);
