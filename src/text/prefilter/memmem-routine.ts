import {
  block,
  br,
  br_if,
  type Code,
  i8x16_bitmask,
  i8x16_eq,
  i8x16_splat,
  i32_add,
  i32_const,
  i32_eq,
  i32_gt_s,
  i32_load8_u,
  i32_ne,
  i32_or,
  i32_sub,
  if_,
  local_get,
  local_set,
  loop,
  type Routine,
  return_,
  v128_and,
  v128_load,
  v128_or,
} from "../../base/wasm/assembly.ts";
import { layout } from "./layout.ts";
import { forEachCandidate, increment, skipToCandidate } from "./loops.ts";

/** Whether the case of letters matters ("exact") or not ("folded"). */
export type StringKind = "exact" | "folded";

/** The locals of `findString`: numbers first, then vectors. */
export interface StringLocals {
  readonly at: number;
  readonly end: number;
  readonly length: number;
  /** The positions of the packed pair. */
  readonly pair: readonly [first: number, second: number];
  readonly last: number;
  readonly candidates: number;
  readonly start: number;
  readonly position: number;
  /** The first of four vectors. */
  readonly vectors: number;
}

/**
 * Runs `found` for each `start` in [at, end) where the string of the tables occurs. To continue, `found`
 * branches past the end of the outermost of three blocks.
 */
export function findString(kind: StringKind, locals: StringLocals, found: Code): Code {
  const { at, end, length, pair, last, candidates, start, position, vectors } = locals;
  const { maxStringLength: folds } = layout;
  const byteAndFold = (index: number): readonly [byte: number, fold: number] => [
    vectors + 2 * index,
    vectors + 2 * index + 1,
  ];
  const splat = (index: 0 | 1): Code => {
    const [byte, fold] = byteAndFold(index);
    return [
      ...local_set(byte, i8x16_splat(i32_load8_u(local_get(pair[index])))),
      ...local_set(fold, i8x16_splat(i32_load8_u(local_get(pair[index]), folds))),
    ];
  };
  const compare = (index: 0 | 1, offset: number): Code => {
    const [byte, fold] = byteAndFold(index);
    const loaded = v128_load(i32_add(local_get(at), local_get(pair[index])), offset);
    return i8x16_eq(kind === "exact" ? loaded : v128_or(loaded, local_get(fold)), local_get(byte));
  };
  const candidatesAt = (offset: number): Code => v128_and(compare(0, offset), compare(1, offset));
  const byteHere = i32_load8_u(i32_add(local_get(start), local_get(position)));
  const verify = block(
    local_set(position, i32_const(0)),
    loop(
      if_(i32_eq(local_get(position), local_get(length)), found),
      br_if(
        1,
        i32_ne(i32_or(byteHere, i32_load8_u(local_get(position), folds)), i32_load8_u(local_get(position))),
      ),
      increment(position, 1),
      br(0),
    ),
  );
  return [
    ...local_set(last, i32_sub(local_get(end), local_get(length))),
    ...[...splat(0), ...splat(1)],
    ...block(
      loop(
        skipToCandidate({ at, last, step: 64 }, candidatesAt),
        br_if(1, i32_gt_s(local_get(at), local_get(last))),
        local_set(candidates, i8x16_bitmask(candidatesAt(0))),
        forEachCandidate({ at, last, candidates, start }, verify),
        increment(at, 16),
        br(0),
      ),
    ),
  ];
}

/**
 * memmem_exact, memmem_folded(at, end, length, first, second): returns the first address in [at, end) of the
 * string, or -1. `first` and `second` are the positions of its packed pair.
 */
export function memmem(kind: StringKind): Routine {
  const locals: StringLocals = {
    ...{ at: 0, end: 1, length: 2, pair: [3, 4] },
    ...{ last: 5, candidates: 6, start: 7, position: 8, vectors: 9 },
  };
  const body = [...findString(kind, locals, return_(local_get(locals.start))), ...i32_const(-1)];
  return { name: `memmem_${kind}`, parameters: 5, numbers: 4, vectors: 4, body };
}
