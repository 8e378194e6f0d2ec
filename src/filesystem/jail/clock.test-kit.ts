/** The clock that file systems take the times of changes from. */
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStamps, stamps } from "./stamps.ts";

/** Writes a file in a folder until its stamps differ. From then on a change gives every file new ones. */
export function awaitTick(folder: string): void {
  const clock = join(folder, "clock");
  const stampsNow = () => {
    writeFileSync(clock, "");
    const descriptor = openSync(clock, "r");
    readStamps(descriptor);
    closeSync(descriptor);
    return stamps.join();
  };
  const first = stampsNow();
  while (stampsNow() === first);
  rmSync(clock);
}
