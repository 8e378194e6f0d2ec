/**
 * Standard input through a pipe. JavaScript runtimes use a socket, which makes bash believe that a remote
 * shell daemon started it, so that it reads the user's start-up file.
 */
import { closeSync, constants, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { loadLibc } from "./libc.ts";
import { openBlockingPipe, type Pipe, setPipeFlags } from "./pipe.ts";

/** F_SETPIPE_SZ of fcntl(2), and the largest size that every user may set. */
const setSize = 1031;
const pipeBytes = 1024 * 1024;

/** Milliseconds between two attempts to write to a pipe that is full. */
const pauseMs = 5;

export interface StandardInput {
  /** The end that becomes the program's standard input. Its starter closes it. */
  readonly readEnd: number;
  /**
   * Writes the text until all of it is written, the program has closed its end, or `ended` has resolved.
   * Never rejects.
   */
  feed(ended: Promise<unknown>): Promise<void>;
  /**
   * Closes both ends, for a program that has not started. `isClosed` says whether the program's end has been
   * closed already.
   */
  abandon(isClosed: boolean): void;
}

/**
 * Opens a standard input for a text. Returns `undefined` if the C library cannot be called. Throws a
 * `StartFailure` if descriptors run short.
 */
export function openStandardInput(text: string): StandardInput | undefined {
  const libc = loadLibc();
  if (libc === undefined) return undefined;
  const { readEnd, writeEnd }: Pipe = openBlockingPipe();
  setPipeFlags(writeEnd, constants.O_NONBLOCK);
  const bytes = Buffer.from(text);
  if (bytes.length > pipeBytes / 16) libc.fcntl(writeEnd, setSize, pipeBytes);
  return {
    readEnd,
    async feed(ended) {
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      try {
        for (let at = 0; at < bytes.length && !isOver; ) {
          const count = tryWrite(writeEnd, bytes.subarray(at));
          if (count === 0) await sleep(pauseMs);
          at += count;
        }
      } catch {
        // The program has closed its end.
      } finally {
        closeSync(writeEnd);
      }
    },
    abandon(isClosed) {
      closeSync(writeEnd);
      if (!isClosed) closeSync(readEnd);
    },
  };
}

/** Returns the number of written bytes, 0 if the pipe is full. Throws if no process has its other end. */
function tryWrite(descriptor: number, bytes: Uint8Array): number {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}
