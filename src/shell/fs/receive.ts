import type { Readable } from "node:stream";
import { Refusal, refuse } from "../../base/errors.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { ChannelSource } from "../../calls/contract/bus-access.ts";
import { refuseFs } from "./fs-errors.ts";

export interface Receiving {
  /** The target path, as the caller sent it, for error sentences. */
  readonly path: string;
  /** Maximum bytes to accept, if limited. */
  readonly maxBytes: number | undefined;
  /** The number of bytes that the caller announced, if any. */
  readonly announced: number | undefined;
  readonly deadline: Deadline;
  /** Maximum pause between two chunks. */
  readonly idleMilliseconds: number;
  /** Aborts when the worker ends. */
  readonly signal: AbortSignal;
}

/**
 * Yields the bytes of a channel. It ends normally only if the channel ends after the announced number of
 * bytes: a sender that dies looks like one that is done. The channel may also announce the number, by the
 * text message `{"size": n}`; the message `{"error": …}` reports a failure of the sender. It ignores other
 * messages, and longer ones than such a message.
 */
export async function* receive(source: ChannelSource, receiving: Receiving): AsyncGenerator<Uint8Array> {
  const { path, maxBytes, idleMilliseconds, deadline, signal } = receiving;
  const stream: Readable = source.stream;
  if (signal.aborted) throw refuseFs.stopping(path);
  if (deadline.signal.aborted) throw refuse.timeout(deadline.milliseconds);
  let { announced } = receiving;
  let received = 0;
  source.onMessage((text) => {
    if (text.length > maxNoteUnits) return;
    const note = parseNote(text);
    if (note.isError) stream.destroy(refuseFs.sender(path));
    announced = note.size ?? announced;
  });
  const idle = setTimeout(() => stream.destroy(refuseFs.idle(path, idleMilliseconds)), idleMilliseconds);
  const late = () => stream.destroy(refuse.timeout(deadline.milliseconds));
  const stop = () => stream.destroy(refuseFs.stopping(path));
  deadline.signal.addEventListener("abort", late, { once: true });
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      idle.refresh();
      received += piece.length;
      if (maxBytes !== undefined && received > maxBytes) throw refuseFs.tooLong(path, maxBytes);
      yield piece;
    }
    if (announced !== undefined && received !== announced)
      throw refuseFs.incomplete(path, received, announced);
  } catch (error) {
    throw error instanceof Refusal ? error : refuseFs.channel(path);
  } finally {
    clearTimeout(idle);
    deadline.signal.removeEventListener("abort", late);
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }
}

/** Maximum UTF-16 units of a message that is parsed. */
const maxNoteUnits = 4096;

function parseNote(text: string): { size?: number; isError: boolean } {
  try {
    const note = JSON.parse(text) as { size?: unknown; error?: unknown } | null;
    if (typeof note !== "object" || note === null) return { isError: false };
    const { size } = note;
    return { isError: note.error !== undefined, ...(Number.isSafeInteger(size) && { size: size as number }) };
  } catch {
    return { isError: false };
  }
}
