/**
 * Pipes for the outputs of programs. JavaScript runtimes use sockets, which no program can open by name: a
 * script that writes to /dev/stderr fails with ENXIO (open(2)).
 */
import { closeSync, constants } from "node:fs";
import { loadLibc } from "./libc.ts";
import { StartFailure } from "./start-failure.ts";

/** Both ends as descriptors, closed in programs that this process starts. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/**
 * Opens `count` pipes whose reading ends do not block. Returns `undefined` if the C library cannot be called.
 * Throws a `StartFailure` if descriptors run short.
 */
export function openPipes(count: number): Pipe[] | undefined {
  if (loadLibc() === undefined) return undefined;
  const pipes: Pipe[] = [];
  try {
    while (pipes.length < count) pipes.push(openPipe());
    return pipes;
  } catch (error) {
    for (const pipe of pipes) closePipe(pipe);
    throw error;
  }
}

function closePipe({ readEnd, writeEnd }: Pipe): void {
  closeSync(readEnd);
  closeSync(writeEnd);
}

/**
 * O_CLOEXEC of open(2), which node:fs does not name, and F_SETFL of fcntl(2). They are equal on every Linux
 * that Bun runs on.
 */
const closeOnExec = 0o2000000;
const setFlags = 4;

function openPipe(): Pipe {
  const pipe = openBlockingPipe();
  // Each end has its own flags. The program's end stays blocking, as programs expect.
  setPipeFlags(pipe.readEnd, constants.O_NONBLOCK);
  return pipe;
}

/** Opens a pipe with two blocking ends. Throws a `StartFailure` if descriptors run short. */
export function openBlockingPipe(): Pipe {
  const ends = new Int32Array(2);
  if ((loadLibc()?.pipe2(ends, closeOnExec) ?? -1) < 0) throw new StartFailure("exhausted");
  const [readEnd = -1, writeEnd = -1] = ends;
  return { readEnd, writeEnd };
}

/** Sets the flags of one end, as of open(2). */
export const setPipeFlags = (end: number, flags: number): void => {
  loadLibc()?.fcntl(end, setFlags, flags);
};
