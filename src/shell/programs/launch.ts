/** Programs that are started by another one, which becomes them. */
import { closeSync } from "node:fs";
import { constants } from "node:os";
import { readDescriptor } from "../../base/bun.ts";
import type { Program } from "./program.ts";

/** All processes of a program, however they have been started. */
export interface ProcessGroup {
  /** Kills them at once, and lets them start no others. */
  kill(): void;
  /** For when they are gone, or have never been. */
  remove(): void;
}

/** What to start instead of a program. */
export interface Launch extends Program, Disposable {
  /**
   * What it gets as its descriptor 3. Then 4 is where it writes 16 bytes when it has failed, and nothing when
   * it has become the program: 2 if that was execve(2), 1 for what comes before it, and the negative errno;
   * as words of 64 bits.
   */
  readonly descriptor?: number;
  /** What it gets as its descriptors 5, 6 and so on. */
  readonly inherited?: readonly number[];
  /** What holds the processes; the starter removes it. */
  readonly group?: ProcessGroup;
}

/** Throws when the system has no more descriptors, or no rules for the program can be made. */
export type Launcher = (program: Program) => Launch | Promise<Launch>;

const executeFailed = 2n;

/**
 * Waits until a launcher has become its program, or has failed: then with the name of the error of execve(2),
 * or with "not-confined". Closes the descriptor. A launcher that is killed has run nothing, and its end is
 * the end of the program.
 */
export async function awaitLaunch(descriptor: number): Promise<string | undefined> {
  try {
    const parts: Uint8Array[] = [];
    for await (const part of readDescriptor(descriptor)) parts.push(part);
    const report = Buffer.concat(parts);
    if (report.length === 0) return undefined;
    if (report.length < 16 || report.readBigInt64LE(0) !== executeFailed) return "not-confined";
    const error = -Number(report.readBigInt64LE(8));
    return Object.entries(constants.errno).find(([, value]) => value === error)?.[0] ?? "EACCES";
  } finally {
    closeSync(descriptor);
  }
}
