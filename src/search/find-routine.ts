import {
  add,
  and16,
  answer,
  block,
  type Code,
  constant,
  equal16,
  get,
  go,
  goIf,
  isEqual,
  isGreater,
  isUnequal,
  load16,
  loadByte,
  loop,
  or,
  or16,
  type Routine,
  set,
  splat,
  subtract,
  toBits,
  when,
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { inTurn, next, skip } from "./loops.ts";

/**
 * find_exact, find_folded(at, end, length, first, second): the first place in [at, end) where the string stands, or -1.
 * `first` and `second` are the positions in it that are compared first.
 */
export function find(kind: "exact" | "folded"): Routine {
  const [at, end, length, first, second, last, candidates, start, position] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [firstByte, firstFold, secondByte, secondFold] = [9, 10, 11, 12];
  const { longestString: folds } = layout;
  const spread = (which: number, byte: number, fold: number): Code => [
    ...set(byte, splat(loadByte(get(which)))),
    ...set(fold, splat(loadByte(get(which), folds))),
  ];
  const compare = (which: number, byte: number, fold: number, offset: number): Code => {
    const loaded = load16(add(get(at), get(which)), offset);
    return equal16(kind === "exact" ? loaded : or16(loaded, get(fold)), get(byte));
  };
  const hits = (offset: number): Code =>
    and16(compare(first, firstByte, firstFold, offset), compare(second, secondByte, secondFold, offset));
  const look = block(
    set(position, constant(0)),
    loop(
      when(isEqual(get(position), get(length)), answer(get(start))),
      goIf(
        1,
        isUnequal(
          or(loadByte(add(get(start), get(position))), loadByte(get(position), folds)),
          loadByte(get(position)),
        ),
      ),
      next(position, 1),
      go(0),
    ),
  );
  const body = [
    ...set(last, subtract(get(end), get(length))),
    ...spread(first, firstByte, firstFold),
    ...spread(second, secondByte, secondFold),
    ...block(
      loop(
        skip({ at, last, step: 64 }, hits),
        goIf(1, isGreater(get(at), get(last))),
        set(candidates, toBits(hits(0))),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        go(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: `find_${kind}`, parameters: 5, numbers: 4, vectors: 4, body };
}
