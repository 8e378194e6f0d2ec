import {
  add,
  and,
  bitmask,
  block,
  br,
  br_if,
  type Code,
  constant,
  countOnes,
  equal16,
  if_,
  isAtLeast,
  isEqual,
  isGreater,
  isLess,
  leadingZeros,
  load16,
  loadByte,
  loadPair,
  localGet,
  localSet,
  loop,
  type Routine,
  return_,
  shiftLeft,
  splat,
  store,
  subtract,
  trailingZeros,
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { next } from "./loops.ts";

/** Adds to `sum` how many newlines there are in [at, end), and moves `at` on. */
function count({ at, end, sum, newlines }: { at: number; end: number; sum: number; newlines: number }): Code {
  const found = (offset: number) => bitmask(equal16(load16(localGet(at), offset), localGet(newlines)));
  const ofEnd = subtract(shiftLeft(constant(1), subtract(localGet(end), localGet(at))), constant(1));
  const counted = (bits: Code) => localSet(sum, add(localGet(sum), countOnes(bits)));
  const countBy = (step: number) =>
    block(
      loop(
        br_if(1, isGreater(add(localGet(at), constant(step)), localGet(end))),
        ...Array.from({ length: step / 16 }, (_, index) => counted(found(16 * index))),
        next(at, step),
        br(0),
      ),
    );
  return [
    ...countBy(64),
    ...countBy(16),
    ...if_(isLess(localGet(at), localGet(end)), counted(and(found(0), ofEnd))),
  ];
}

/**
 * enclose(from, hit, counted): writes to `layout.line` where the line of `hit` starts, not before `from`, where the
 * newline at its end is, and how many newlines there are between `counted` and the start, which it answers too.
 */
export function enclose(): Routine {
  const [from, hit, counted, at, start, bits, sum] = [0, 1, 2, 3, 4, 5, 6];
  const newlines = 7;
  const look = localSet(bits, bitmask(equal16(load16(localGet(at)), localGet(newlines))));
  const tell = (index: number, value: Code) => store(constant(layout.line), value, 4 * index);
  const body = [
    ...localSet(newlines, splat(constant(0x0a))),
    ...localSet(at, localGet(hit)),
    ...localSet(start, localGet(from)),
    ...block(
      loop(
        br_if(1, isAtLeast(localGet(from), localGet(at))),
        next(at, -16),
        look,
        // What lies before `from` counts as nothing.
        if_(
          localGet(bits),
          localSet(bits, subtract(add(localGet(at), constant(32)), leadingZeros(localGet(bits)))),
          if_(isGreater(localGet(bits), localGet(from)), localSet(start, localGet(bits))),
          br(2),
        ),
        br(0),
      ),
    ),
    ...localSet(at, localGet(hit)),
    ...block(loop(look, br_if(1, localGet(bits)), next(at, 16), br(0))),
    ...tell(0, localGet(start)),
    ...tell(1, add(localGet(at), trailingZeros(localGet(bits)))),
    ...count({ at: counted, end: start, sum, newlines }),
    ...tell(2, localGet(sum)),
    ...localGet(start),
  ];
  return { name: "enclose", parameters: 3, numbers: 4, vectors: 1, body };
}

/**
 * match(from, end, matching, edge): where the automaton finds that the first match of the line [from, end) starts, or
 * -1; -2 when the line is not ASCII. `matching` and `edge` are the automaton's.
 */
export function match(): Routine {
  const [from, end, matching, edge] = [0, 1, 2, 3];
  const [at, row, found] = [4, 5, 6];
  const follow = (column: Code) =>
    localSet(row, loadPair(shiftLeft(add(localGet(row), column), constant(1)), layout.rows));
  const body = [
    ...localSet(found, constant(-1)),
    ...localSet(at, localGet(end)),
    ...block(
      loop(
        br_if(1, isEqual(localGet(at), localGet(from))),
        next(at, -1),
        follow(loadByte(loadByte(localGet(at)), layout.classes)),
        if_(
          isAtLeast(localGet(row), localGet(matching)),
          if_(isEqual(localGet(row), constant(layout.foreign)), return_(constant(-2))),
          localSet(found, add(localGet(at), constant(1))),
        ),
        br(0),
      ),
    ),
    ...follow(localGet(edge)),
    ...if_(isAtLeast(localGet(row), localGet(matching)), return_(localGet(from))),
    ...localGet(found),
  ];
  return { name: "match", parameters: 4, numbers: 3, vectors: 0, body };
}
