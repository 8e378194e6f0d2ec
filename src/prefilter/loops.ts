/** Parts that the routines have in common. */
import {
  block,
  br,
  br_if,
  type Code,
  i32_add,
  i32_and,
  i32_const,
  i32_ctz,
  i32_eqz,
  i32_gt_s,
  i32_sub,
  local_get,
  local_set,
  loop,
  v128_any_true,
  v128_or,
} from "../wasm/assembly.ts";

/** Moves a local on. */
export const next = (local: number, step: number): Code =>
  local_set(local, i32_add(local_get(local), i32_const(step)));

/** Moves `at` on to where `hits` finds something in one of the next places, `step` of them, or past `last`. */
export function skip(
  { at, last, step }: { at: number; last: number; step: number },
  hits: (offset: number) => Code,
): Code {
  const all = Array.from({ length: step / 16 }, (_, index) => hits(16 * index));
  return block(
    loop(
      br_if(1, i32_gt_s(local_get(at), local_get(last))),
      br_if(1, v128_any_true(all.reduce((one, other) => v128_or(one, other)))),
      next(at, step),
      br(0),
    ),
  );
}

/** Calls `look` with each candidate of the sixteen places from `at` on, in turn; leaves when it is past `last`. */
export function inTurn(
  { at, last, candidates, start }: { at: number; last: number; candidates: number; start: number },
  look: Code,
): Code {
  return block(
    loop(
      br_if(1, i32_eqz(local_get(candidates))),
      local_set(start, i32_add(local_get(at), i32_ctz(local_get(candidates)))),
      br_if(1, i32_gt_s(local_get(start), local_get(last))),
      look,
      local_set(candidates, i32_and(local_get(candidates), i32_sub(local_get(candidates), i32_const(1)))),
      br(0),
    ),
  );
}
