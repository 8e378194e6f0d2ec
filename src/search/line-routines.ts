import {
  add,
  and,
  answer,
  block,
  type Code,
  constant,
  countOnes,
  equal16,
  get,
  go,
  goIf,
  isAtLeast,
  isEqual,
  isGreater,
  isLess,
  leadingZeros,
  load16,
  loadByte,
  loadPair,
  loop,
  type Routine,
  set,
  shiftLeft,
  splat,
  store,
  subtract,
  toBits,
  trailingZeros,
  when,
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { next } from "./loops.ts";

/** Adds to `sum` how many newlines there are in [at, end), and moves `at` on. */
function count({ at, end, sum, newlines }: { at: number; end: number; sum: number; newlines: number }): Code {
  const found = (offset: number) => toBits(equal16(load16(get(at), offset), get(newlines)));
  const ofEnd = subtract(shiftLeft(constant(1), subtract(get(end), get(at))), constant(1));
  const counted = (bits: Code) => set(sum, add(get(sum), countOnes(bits)));
  const countBy = (step: number) =>
    block(
      loop(
        goIf(1, isGreater(add(get(at), constant(step)), get(end))),
        ...Array.from({ length: step / 16 }, (_, index) => counted(found(16 * index))),
        next(at, step),
        go(0),
      ),
    );
  return [...countBy(64), ...countBy(16), ...when(isLess(get(at), get(end)), counted(and(found(0), ofEnd)))];
}

/**
 * enclose(from, hit, counted): writes to `layout.line` where the line of `hit` starts, not before `from`, where the
 * newline at its end is, and how many newlines there are between `counted` and the start, which it answers too.
 */
export function enclose(): Routine {
  const [from, hit, counted, at, start, bits, sum] = [0, 1, 2, 3, 4, 5, 6];
  const newlines = 7;
  const look = set(bits, toBits(equal16(load16(get(at)), get(newlines))));
  const tell = (index: number, value: Code) => store(constant(layout.line), value, 4 * index);
  const body = [
    ...set(newlines, splat(constant(0x0a))),
    ...set(at, get(hit)),
    ...set(start, get(from)),
    ...block(
      loop(
        goIf(1, isAtLeast(get(from), get(at))),
        next(at, -16),
        look,
        // What lies before `from` counts as nothing.
        when(
          get(bits),
          set(bits, subtract(add(get(at), constant(32)), leadingZeros(get(bits)))),
          when(isGreater(get(bits), get(from)), set(start, get(bits))),
          go(2),
        ),
        go(0),
      ),
    ),
    ...set(at, get(hit)),
    ...block(loop(look, goIf(1, get(bits)), next(at, 16), go(0))),
    ...tell(0, get(start)),
    ...tell(1, add(get(at), trailingZeros(get(bits)))),
    ...count({ at: counted, end: start, sum, newlines }),
    ...tell(2, get(sum)),
    ...get(start),
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
    set(row, loadPair(shiftLeft(add(get(row), column), constant(1)), layout.rows));
  const body = [
    ...set(found, constant(-1)),
    ...set(at, get(end)),
    ...block(
      loop(
        goIf(1, isEqual(get(at), get(from))),
        next(at, -1),
        follow(loadByte(loadByte(get(at)), layout.classes)),
        when(
          isAtLeast(get(row), get(matching)),
          when(isEqual(get(row), constant(layout.foreign)), answer(constant(-2))),
          set(found, add(get(at), constant(1))),
        ),
        go(0),
      ),
    ),
    ...follow(get(edge)),
    ...when(isAtLeast(get(row), get(matching)), answer(get(from))),
    ...get(found),
  ];
  return { name: "match", parameters: 4, numbers: 3, vectors: 0, body };
}
