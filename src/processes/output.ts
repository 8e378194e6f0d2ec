/** One output of a program, while it is read. */
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { readDescriptor } from "../bun.ts";
import { HeadBuffer } from "./head-buffer.ts";

export interface Output {
  /** What is kept of it. */
  readonly head: HeadBuffer;
  /** It has been read to its end, or is not read any more. Never rejects. */
  readonly closed: Promise<void>;
  /** Stops reading, even if a process still holds the other end. */
  destroy(): void;
}

/** Reads the end of a pipe, and closes it in the end. Only on Bun: the descriptor must not block. */
export function capturePipe(readEnd: number, maxBytes: number): Output {
  const head = new HeadBuffer(maxBytes);
  const reader = readDescriptor(readEnd).getReader();
  return {
    head,
    closed: readAll(reader, head).finally(() => closeSync(readEnd)),
    destroy: () => void reader.cancel().catch(() => {}),
  };
}

/** The types of the two runtimes differ in what they know about readers. */
interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function readAll(reader: Reader, head: HeadBuffer): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value !== undefined) head.add(value);
    }
  } catch {
    // The bytes that came are what there is.
  }
}

/** Reads a stream that the runtime made. */
export function captureStream(stream: Readable | null, maxBytes: number): Output {
  if (stream === null) throw new Error("the program was started without a pipe");
  const head = new HeadBuffer(maxBytes);
  stream.on("data", (chunk: Buffer) => head.add(chunk));
  // "close" follows, and the bytes that came are what there is.
  stream.on("error", () => {});
  return {
    head,
    closed: new Promise((resolve) => stream.once("close", () => resolve())),
    destroy: () => void stream.destroy(),
  };
}
