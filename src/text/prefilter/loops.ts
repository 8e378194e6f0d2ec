/** Loops shared by several routines. */
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
} from "../../base/wasm/assembly.ts";

/** Returns code that adds to a local. */
export const increment = (local: number, step: number): Code =>
  local_set(local, i32_add(local_get(local), i32_const(step)));

/**
 * Advances `at` by `step` until `candidatesAt` finds a candidate among the next `step` bytes, or past `last`.
 */
export function skipToCandidate(
  { at, last, step }: { at: number; last: number; step: number },
  candidatesAt: (offset: number) => Code,
): Code {
  const all = Array.from({ length: step / 16 }, (_, index) => candidatesAt(16 * index));
  return block(
    loop(
      br_if(1, i32_gt_s(local_get(at), local_get(last))),
      br_if(1, v128_any_true(all.reduce((one, other) => v128_or(one, other)))),
      increment(at, step),
      br(0),
    ),
  );
}

/** Runs `verify` for each candidate among the sixteen bytes starting at `at`, in order, up to `last`. */
export function forEachCandidate(
  { at, last, candidates, start }: { at: number; last: number; candidates: number; start: number },
  verify: Code,
): Code {
  return block(
    loop(
      br_if(1, i32_eqz(local_get(candidates))),
      local_set(start, i32_add(local_get(at), i32_ctz(local_get(candidates)))),
      br_if(1, i32_gt_s(local_get(start), local_get(last))),
      verify,
      local_set(candidates, i32_and(local_get(candidates), i32_sub(local_get(candidates), i32_const(1)))),
      br(0),
    ),
  );
}
