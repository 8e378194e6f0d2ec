/** Reads the outputs of programs. */
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { readDescriptor } from "../../base/bun.ts";
import { createTurnSlice } from "../../base/scheduling/time-slice.ts";
import type { HeadBuffer } from "./head-buffer.ts";

/** Keeps a part of an output. */
export type OutputBuffer = Pick<HeadBuffer, "truncated" | "add" | "endWith" | "render">;

/** An output of a program. */
export type OutputName = "stdout" | "stderr";

/**
 * Receives each piece of the outputs. If it returns a promise, nothing more is read of that output until it
 * resolves.
 */
export type LiveOutput = (piece: Uint8Array, from: OutputName) => Promise<void> | undefined;

/** A `LiveOutput` of one output. */
type LivePieces = (piece: Uint8Array) => Promise<void> | undefined;

export interface Output {
  /** The kept part of the output. */
  readonly head: OutputBuffer;
  /** Resolves when the output has been read to its end, or reading has stopped. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Reads what the pipe holds without waiting for turns, once its program has exited: others may have many
   * outputs to read before it is destroyed.
   */
  hurry(): void;
  /** Stops reading, even if a process still holds the other end. */
  destroy(): void;
}

/** The slice of all outputs: a pipe can be read in one turn for as long as its writer fills it. */
const reading = createTurnSlice();

/** Reads the end of a pipe, then closes it. Only on Bun: the descriptor must not block. */
export function capturePipe(readEnd: number, head: OutputBuffer, live?: LivePieces): Output {
  const reader = readDescriptor(readEnd).getReader();
  const turns = new ReadingTurns();
  return {
    head,
    closed: readAll({ reader, turns }, head, live).finally(() => closeSync(readEnd)),
    hurry: () => turns.hurry(),
    destroy: () => void reader.cancel().catch(() => {}),
  };
}

/** The part of a reader that this file uses. Its types differ between the two runtimes. */
interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

/** Maximum bytes of a pipe, unless the system's administrator permits more (pipe-max-size of proc(5)). */
const pipeBytes = 1024 * 1024;

/** The turns of the event loop that an output is read in. */
class ReadingTurns {
  /** The bytes that are read without waiting for turns. */
  #hurried = 0;
  #goOn = () => {};

  hurry(): void {
    this.#hurried = pipeBytes;
    this.#goOn();
  }

  /** Waits for another turn if others have used up this one. `bytes` were read since the last call. */
  async next(bytes: number): Promise<void> {
    if (this.#hurried > 0) this.#hurried -= bytes;
    else if (reading.isDue) await Promise.race([reading.yieldIfDue(), this.#hurry()]);
  }

  #hurry(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }
}

interface Reading {
  readonly reader: Reader;
  readonly turns: ReadingTurns;
}

async function readAll({ reader, turns }: Reading, head: OutputBuffer, live?: LivePieces): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value === undefined) continue;
      head.add(value);
      await live?.(value);
      await turns.next(value.length);
    }
  } catch {
    // The bytes read before the failure are the output.
  }
}

/** Reads a stream that the runtime made. */
export function captureStream(stream: Readable | null, head: OutputBuffer, live?: LivePieces): Output {
  if (stream === null) throw new Error("the program was started without a pipe");
  stream.on("data", (chunk: Buffer) => {
    head.add(chunk);
    const held = live?.(chunk);
    if (held === undefined) return;
    stream.pause();
    void held.then(() => stream.resume());
  });
  // "close" follows; the bytes read before the failure are the output.
  stream.on("error", () => {});
  return {
    head,
    closed: new Promise((resolve) => stream.once("close", () => resolve())),
    hurry: () => {},
    destroy: () => void stream.destroy(),
  };
}
