/** Starts programs through a launcher, which then becomes the program. */
import { closeSync } from "node:fs";
import { constants } from "node:os";
import { readDescriptor } from "../../base/bun.ts";
import type { Program } from "./program.ts";

/** All processes of a program, however they have been started. */
export interface ProcessGroup {
  /** Kills them at once, before they can start others. */
  kill(): void;
  /** Returns whether none of them runs. */
  isEmpty(): boolean;
  /** Removes the group, after its processes have ended or if none was started. */
  remove(): void;
}

/** The program to start instead of another. */
export interface Launch extends Program, Disposable {
  /**
   * The descriptor that becomes its descriptor 3. It then writes 16 bytes to 4 if it fails, and nothing when
   * it has become the program: 2 if execve(2) failed, 1 if a call before it did, and the negative errno, as
   * words of 64 bits.
   */
  readonly descriptor?: number;
  /** The descriptors that become its descriptors 5, 6 and so on. */
  readonly inherited?: readonly number[];
  /** The group of its processes, which the starter removes. */
  readonly group?: ProcessGroup;
}

/**
 * Returns the program to start instead. Throws if the system has no further descriptors, or no rules for the
 * program can be made.
 */
export type Launcher = (program: Program) => Launch | Promise<Launch>;

const executeFailed = 2n;

/**
 * Waits until a launcher has become its program, or has failed. Then it resolves to the name of the error of
 * execve(2), or to "not-confined". Closes the descriptor. A launcher that is killed has run no program, and
 * its end is the end of the program.
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
