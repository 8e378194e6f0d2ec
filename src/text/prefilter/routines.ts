/**
 * Returns the routines of the kernel. Each compares sixteen bytes of a text at once. They load bytes past the
 * end of a text and ignore them.
 */
import type { Routine } from "../../base/wasm/assembly.ts";
import { forwardSearch } from "./forward-routine.ts";
import { lineBounds, matchLine } from "./line-routines.ts";
import { memmem } from "./memmem-routine.ts";
import { teddy } from "./teddy-routine.ts";

export const searchRoutines = (): readonly Routine[] => [
  ...[memmem("exact"), memmem("folded")],
  ...[teddy("byte"), teddy("range"), teddy("nibbles")],
  ...[forwardSearch("exact"), forwardSearch("folded")],
  ...[lineBounds(), matchLine()],
];
