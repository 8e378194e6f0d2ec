/** Parts that the routines have in common. */
import {
  add,
  and,
  anyTrue,
  block,
  br,
  br_if,
  type Code,
  constant,
  isGreater,
  isZero,
  localGet,
  localSet,
  loop,
  or16,
  subtract,
  trailingZeros,
} from "../wasm/assembly.ts";

/** Moves a local on. */
export const next = (local: number, step: number): Code =>
  localSet(local, add(localGet(local), constant(step)));

/** Moves `at` on to where `hits` finds something in one of the next places, `step` of them, or past `last`. */
export function skip(
  { at, last, step }: { at: number; last: number; step: number },
  hits: (offset: number) => Code,
): Code {
  const all = Array.from({ length: step / 16 }, (_, index) => hits(16 * index));
  return block(
    loop(
      br_if(1, isGreater(localGet(at), localGet(last))),
      br_if(1, anyTrue(all.reduce((one, other) => or16(one, other)))),
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
      br_if(1, isZero(localGet(candidates))),
      localSet(start, add(localGet(at), trailingZeros(localGet(candidates)))),
      br_if(1, isGreater(localGet(start), localGet(last))),
      look,
      localSet(candidates, and(localGet(candidates), subtract(localGet(candidates), constant(1)))),
      br(0),
    ),
  );
}
