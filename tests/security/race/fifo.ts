import { closeSync, constants, openSync, readSync } from "node:fs";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Returns whether a process waits at this FIFO for its other end (fifo(7)). Opening it for writing without
 * blocking succeeds only while a reader has it open, and reading without blocking finds the end of the file
 * only without a writer.
 */
export function isWaitedAt(fifo: string): boolean {
  return hasReader(fifo) || hasWriter(fifo);
}

function hasReader(fifo: string): boolean {
  try {
    closeSync(openSync(fifo, O_WRONLY | O_NONBLOCK));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENXIO") return false;
    throw error;
  }
}

function hasWriter(fifo: string): boolean {
  const reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  try {
    return readSync(reader, Buffer.alloc(1)) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return true;
    throw error;
  } finally {
    closeSync(reader);
  }
}
