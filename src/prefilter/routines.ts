/**
 * The loops that JavaScript has no fast way to write. Each compares sixteen places of a text at once; what is loaded
 * behind the end of a text is not looked at.
 */
import type { Routine } from "../wasm/assembly.ts";
import { find } from "./find-routine.ts";
import { enclose, match } from "./line-routines.ts";
import { seek } from "./teddy-routine.ts";

export const searchRoutines = (): readonly Routine[] => [
  ...[find("exact"), find("folded")],
  ...[seek("byte"), seek("range"), seek("halves")],
  ...[enclose(), match()],
];
