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
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { forEachCandidate, increment, skipToCandidate } from "./loops.ts";

/**
 * memmem_exact, memmem_folded(at, end, length, first, second): the first address in [at, end) of the string, or -1. `first`
 * and `second` are the positions of its packed pair.
 */
export function memmem(kind: "exact" | "folded"): Routine {
  const [at, end, length, first, second, last, candidates, start, position] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [firstByte, firstFold, secondByte, secondFold] = [9, 10, 11, 12];
  const { maxStringLength: folds } = layout;
  const splatByte = (which: number, byte: number, fold: number): Code => [
    ...local_set(byte, i8x16_splat(i32_load8_u(local_get(which)))),
    ...local_set(fold, i8x16_splat(i32_load8_u(local_get(which), folds))),
  ];
  const compare = (which: number, byte: number, fold: number, offset: number): Code => {
    const loaded = v128_load(i32_add(local_get(at), local_get(which)), offset);
    return i8x16_eq(kind === "exact" ? loaded : v128_or(loaded, local_get(fold)), local_get(byte));
  };
  const candidatesAt = (offset: number): Code =>
    v128_and(compare(first, firstByte, firstFold, offset), compare(second, secondByte, secondFold, offset));
  const verify = block(
    local_set(position, i32_const(0)),
    loop(
      if_(i32_eq(local_get(position), local_get(length)), return_(local_get(start))),
      br_if(
        1,
        i32_ne(
          i32_or(
            i32_load8_u(i32_add(local_get(start), local_get(position))),
            i32_load8_u(local_get(position), folds),
          ),
          i32_load8_u(local_get(position)),
        ),
      ),
      increment(position, 1),
      br(0),
    ),
  );
  const body = [
    ...local_set(last, i32_sub(local_get(end), local_get(length))),
    ...splatByte(first, firstByte, firstFold),
    ...splatByte(second, secondByte, secondFold),
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
    ...i32_const(-1),
  ];
  return { name: `memmem_${kind}`, parameters: 5, numbers: 4, vectors: 4, body };
}
