import { once } from "node:events";
import { Refusal } from "../../base/errors.ts";
import type { ChannelSink } from "../../calls/contract/bus-access.ts";
import { inShellWords } from "./fs-errors.ts";

/** Maximum milliseconds for sending a file, however steadily its reader reads. */
const maxMilliseconds = 10 * 60_000;

/**
 * Sends the pieces of a file into a channel and ends the channel. It reports its own failures in the text
 * message `{"error": …}`, and ends when the reader leaves, never connects or pauses too long. Never throws.
 */
export async function send(
  pieces: AsyncIterable<Buffer>,
  sink: ChannelSink,
  { idleMilliseconds, signal }: { readonly idleMilliseconds: number; readonly signal: AbortSignal },
): Promise<void> {
  const { stream } = sink;
  const stop = () => stream.destroy();
  stream.on("error", () => undefined);
  const gone = new Promise<void>((resolve) => stream.once("close", resolve));
  const idle = setTimeout(stop, idleMilliseconds);
  const late = setTimeout(stop, maxMilliseconds);
  signal.addEventListener("abort", stop, { once: true });
  try {
    sink.connect();
    for await (const piece of pieces) {
      const taken = new Promise<void>((resolve) => stream.write(piece, () => resolve()));
      await Promise.race([taken, gone]);
      if (stream.destroyed) return;
      idle.refresh();
    }
    await finish(sink);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sink.sendMessage(JSON.stringify({ error: inShellWords(error).message }));
    await finish(sink);
  } finally {
    clearTimeout(idle);
    clearTimeout(late);
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }

  async function finish({ stream }: ChannelSink): Promise<void> {
    stream.end();
    await Promise.race([once(stream, "finish").catch(() => undefined), gone]);
  }
}
