import {
  add,
  and16,
  bitmask,
  block,
  br,
  br_if,
  type Code,
  constant,
  equal16,
  if_,
  isEqual,
  isGreater,
  isUnequal,
  load16,
  loadByte,
  localGet,
  localSet,
  loop,
  or,
  or16,
  type Routine,
  return_,
  splat,
  subtract,
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
    ...localSet(byte, splat(loadByte(localGet(which)))),
    ...localSet(fold, splat(loadByte(localGet(which), folds))),
  ];
  const compare = (which: number, byte: number, fold: number, offset: number): Code => {
    const loaded = load16(add(localGet(at), localGet(which)), offset);
    return equal16(kind === "exact" ? loaded : or16(loaded, localGet(fold)), localGet(byte));
  };
  const hits = (offset: number): Code =>
    and16(compare(first, firstByte, firstFold, offset), compare(second, secondByte, secondFold, offset));
  const look = block(
    localSet(position, constant(0)),
    loop(
      if_(isEqual(localGet(position), localGet(length)), return_(localGet(start))),
      br_if(
        1,
        isUnequal(
          or(loadByte(add(localGet(start), localGet(position))), loadByte(localGet(position), folds)),
          loadByte(localGet(position)),
        ),
      ),
      next(position, 1),
      br(0),
    ),
  );
  const body = [
    ...localSet(last, subtract(localGet(end), localGet(length))),
    ...spread(first, firstByte, firstFold),
    ...spread(second, secondByte, secondFold),
    ...block(
      loop(
        skip({ at, last, step: 64 }, hits),
        br_if(1, isGreater(localGet(at), localGet(last))),
        localSet(candidates, bitmask(hits(0))),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        br(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: `find_${kind}`, parameters: 5, numbers: 4, vectors: 4, body };
}
