import {
  add,
  and,
  and16,
  answer,
  block,
  type Code,
  constant,
  equal16,
  get,
  go,
  goIf,
  isAny,
  isAtLeast,
  isEqual,
  isGreater,
  isZero,
  lesser16,
  load16,
  loadByte,
  loop,
  or,
  or16,
  type Routine,
  set,
  shiftLeft,
  shiftRight8,
  splat,
  subtract,
  subtract16,
  swizzle,
  toBits,
  when,
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { inTurn, next, skip } from "./loops.ts";
import type { Test } from "./shape.ts";

/**
 * seek_byte, seek_range, seek_halves(at, end, length, depth, first, second, open): the first place in [at, end) where the shape of
 * at least `length` and at most `depth` characters may stand, or -1. `open` is 0 where all of them are ASCII.
 */
export function seek(kind: Test): Routine {
  const [at, end, length, depth, first, second, open] = [0, 1, 2, 3, 4, 5, 6];
  const [last, candidates, start, position, forms, byte, reached, past] = [7, 8, 9, 10, 11, 12, 13, 14];
  const [lowerHalf, zero, bytes, foreign] = [15, 16, 17, 18];
  const tables = [19, 20, 21, 22] as const;
  const [asciiStarts, foreignStarts, powers] = [23, 24, 25];
  const test = (which: number, one: number, other: number, offset: number): Code => {
    const loaded = load16(add(get(at), get(which)), offset);
    if (kind === "byte") return equal16(loaded, get(one));
    if (kind === "range") {
      return [
        ...set(bytes, subtract16(loaded, get(one))),
        ...equal16(lesser16(get(bytes), get(other)), get(bytes)),
      ];
    }
    return [
      ...set(bytes, loaded),
      ...and16(
        swizzle(get(one), and16(get(bytes), get(lowerHalf))),
        swizzle(get(other), and16(shiftRight8(get(bytes), constant(4)), get(lowerHalf))),
      ),
    ];
  };
  const hits = (offset: number): Code =>
    and16(test(first, tables[0], tables[1], offset), test(second, tables[2], tables[3], offset));
  const foreigners = (offset: number): Code =>
    and16(or16(load16(get(at), offset), load16(add(get(at), get(length)), offset)), get(foreign));
  // By its lower half, a byte has the upper halves that a form's first one may have beside that.
  const startsBy = (table: number) =>
    subtract(
      constant(0xffff),
      toBits(
        equal16(
          and16(
            swizzle(get(table), and16(get(bytes), get(lowerHalf))),
            swizzle(get(powers), and16(shiftRight8(get(bytes), constant(4)), get(lowerHalf))),
          ),
          get(zero),
        ),
      ),
    );
  const findStarts = [
    ...set(bytes, load16(get(at))),
    ...set(past, toBits(get(bytes))),
    ...set(
      candidates,
      or(
        and(startsBy(foreignStarts), get(past)),
        and(startsBy(asciiStarts), subtract(constant(0xffff), get(past))),
      ),
    ),
  ];
  // A set with every byte past ASCII has U+FFFD in it: it may be shown for bytes that are no character.
  const everyByte = loadByte(shiftLeft(get(position), constant(8)), layout.shape + 0xff);
  const character = [
    ...when(and(get(forms), everyByte), answer(get(start))),
    ...next(reached, 1),
    ...when(isAtLeast(get(byte), constant(0xe0)), next(reached, 1)),
    ...when(isAtLeast(get(byte), constant(0xf0)), next(reached, 1)),
  ];
  const look = block(
    set(position, constant(0)),
    set(forms, constant(0xff)),
    set(reached, get(start)),
    loop(
      when(isEqual(get(position), get(depth)), answer(get(start))),
      set(byte, loadByte(get(reached))),
      set(
        forms,
        and(get(forms), loadByte(add(shiftLeft(get(position), constant(8)), get(byte)), layout.shape)),
      ),
      goIf(1, isZero(get(forms))),
      when(isAtLeast(get(byte), constant(0x80)), character),
      next(reached, 1),
      next(position, 1),
      go(0),
    ),
  );
  const body = [
    ...set(last, subtract(get(end), get(length))),
    ...set(lowerHalf, splat(constant(0x0f))),
    ...when(get(open), set(foreign, splat(constant(0x80)))),
    ...[...tables, asciiStarts, foreignStarts, powers].flatMap((table, index) =>
      set(table, load16(constant(layout.tests + 16 * index))),
    ),
    ...block(
      loop(
        when(
          get(open),
          skip({ at, last, step: 16 }, (offset) => or16(hits(offset), foreigners(offset))),
        ),
        when(isZero(get(open)), skip({ at, last, step: 64 }, hits)),
        goIf(1, isGreater(get(at), get(last))),
        set(candidates, subtract(constant(0xffff), toBits(equal16(hits(0), get(zero))))),
        when(isAny(foreigners(0)), findStarts),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        go(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: `seek_${kind}`, parameters: 7, numbers: 8, vectors: 11, body };
}
