import { FileBuffer } from "../files/file-buffer.ts";
import type { Machine } from "../regex/machine.ts";
import { type Enclose, enclose } from "./enclose.ts";
import { openKernel } from "./kernel.ts";
import { Planner } from "./plan.ts";

/** What one thread searches with, search after search. */
export interface Tools {
  readonly planner: Planner;
  /** Where the files lie that the planner's queries are asked about. */
  readonly buffer: FileBuffer;
  readonly enclose: Enclose;
}

/** Tools whose patterns are compiled in the machine, which is asked for when there is one. */
export function openTools(machine: () => Machine): Tools {
  const kernel = openKernel();
  return {
    planner: new Planner(machine, kernel),
    buffer: new FileBuffer(kernel?.reserve),
    enclose: kernel?.enclose ?? enclose,
  };
}
