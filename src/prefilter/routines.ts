/**
 * The routines of the kernel. Each compares sixteen bytes of a text at once; it loads bytes after the end of a text and
 * ignores them.
 */
import type { Routine } from "../wasm/assembly.ts";
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
