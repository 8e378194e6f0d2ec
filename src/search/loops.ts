/** Parts that the routines have in common. */
import {
  add,
  and,
  block,
  type Code,
  constant,
  get,
  go,
  goIf,
  isAny,
  isGreater,
  isZero,
  loop,
  or16,
  set,
  subtract,
  trailingZeros,
} from "../wasm/assembly.ts";

/** Moves a local on. */
export const next = (local: number, step: number): Code => set(local, add(get(local), constant(step)));

/** Moves `at` on to where `hits` finds something in one of the next places, `step` of them, or past `last`. */
export function skip(
  { at, last, step }: { at: number; last: number; step: number },
  hits: (offset: number) => Code,
): Code {
  const all = Array.from({ length: step / 16 }, (_, index) => hits(16 * index));
  return block(
    loop(
      goIf(1, isGreater(get(at), get(last))),
      goIf(1, isAny(all.reduce((one, other) => or16(one, other)))),
      next(at, step),
      go(0),
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
      goIf(1, isZero(get(candidates))),
      set(start, add(get(at), trailingZeros(get(candidates)))),
      goIf(1, isGreater(get(start), get(last))),
      look,
      set(candidates, and(get(candidates), subtract(get(candidates), constant(1)))),
      go(0),
    ),
  );
}
