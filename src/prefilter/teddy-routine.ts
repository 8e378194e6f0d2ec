import {
  add,
  and,
  and16,
  anyTrue,
  bitmask,
  block,
  br,
  br_if,
  type Code,
  constant,
  equal16,
  if_,
  isAtLeast,
  isEqual,
  isGreater,
  isZero,
  lesser16,
  load16,
  loadByte,
  localGet,
  localSet,
  loop,
  or,
  or16,
  type Routine,
  return_,
  shiftLeft,
  shiftRight8,
  splat,
  subtract,
  subtract16,
  swizzle,
} from "../wasm/assembly.ts";
import { layout } from "./layout.ts";
import { inTurn, next, skip } from "./loops.ts";
import type { Fingerprint } from "./teddy.ts";

/**
 * seek_byte, seek_range, seek_halves(at, end, length, depth, first, second, open): the first place in [at, end) where the shape of
 * at least `length` and at most `depth` characters may stand, or -1. `open` is 0 where all of them are ASCII.
 */
export function seek(kind: Fingerprint): Routine {
  const [at, end, length, depth, first, second, open] = [0, 1, 2, 3, 4, 5, 6];
  const [last, candidates, start, position, forms, byte, reached, past] = [7, 8, 9, 10, 11, 12, 13, 14];
  const [lowerHalf, zero, bytes, foreign] = [15, 16, 17, 18];
  const tables = [19, 20, 21, 22] as const;
  const [asciiStarts, foreignStarts, powers] = [23, 24, 25];
  const test = (which: number, one: number, other: number, offset: number): Code => {
    const loaded = load16(add(localGet(at), localGet(which)), offset);
    if (kind === "byte") return equal16(loaded, localGet(one));
    if (kind === "range") {
      return [
        ...localSet(bytes, subtract16(loaded, localGet(one))),
        ...equal16(lesser16(localGet(bytes), localGet(other)), localGet(bytes)),
      ];
    }
    return [
      ...localSet(bytes, loaded),
      ...and16(
        swizzle(localGet(one), and16(localGet(bytes), localGet(lowerHalf))),
        swizzle(localGet(other), and16(shiftRight8(localGet(bytes), constant(4)), localGet(lowerHalf))),
      ),
    ];
  };
  const hits = (offset: number): Code =>
    and16(test(first, tables[0], tables[1], offset), test(second, tables[2], tables[3], offset));
  const foreigners = (offset: number): Code =>
    and16(
      or16(load16(localGet(at), offset), load16(add(localGet(at), localGet(length)), offset)),
      localGet(foreign),
    );
  // By its lower half, a byte has the upper halves that a form's first one may have beside that.
  const startsBy = (table: number) =>
    subtract(
      constant(0xffff),
      bitmask(
        equal16(
          and16(
            swizzle(localGet(table), and16(localGet(bytes), localGet(lowerHalf))),
            swizzle(localGet(powers), and16(shiftRight8(localGet(bytes), constant(4)), localGet(lowerHalf))),
          ),
          localGet(zero),
        ),
      ),
    );
  const findStarts = [
    ...localSet(bytes, load16(localGet(at))),
    ...localSet(past, bitmask(localGet(bytes))),
    ...localSet(
      candidates,
      or(
        and(startsBy(foreignStarts), localGet(past)),
        and(startsBy(asciiStarts), subtract(constant(0xffff), localGet(past))),
      ),
    ),
  ];
  // A set with every byte past ASCII has U+FFFD in it: it may be shown for bytes that are no character.
  const everyByte = loadByte(shiftLeft(localGet(position), constant(8)), layout.shape + 0xff);
  const character = [
    ...if_(and(localGet(forms), everyByte), return_(localGet(start))),
    ...next(reached, 1),
    ...if_(isAtLeast(localGet(byte), constant(0xe0)), next(reached, 1)),
    ...if_(isAtLeast(localGet(byte), constant(0xf0)), next(reached, 1)),
  ];
  const look = block(
    localSet(position, constant(0)),
    localSet(forms, constant(0xff)),
    localSet(reached, localGet(start)),
    loop(
      if_(isEqual(localGet(position), localGet(depth)), return_(localGet(start))),
      localSet(byte, loadByte(localGet(reached))),
      localSet(
        forms,
        and(
          localGet(forms),
          loadByte(add(shiftLeft(localGet(position), constant(8)), localGet(byte)), layout.shape),
        ),
      ),
      br_if(1, isZero(localGet(forms))),
      if_(isAtLeast(localGet(byte), constant(0x80)), character),
      next(reached, 1),
      next(position, 1),
      br(0),
    ),
  );
  const body = [
    ...localSet(last, subtract(localGet(end), localGet(length))),
    ...localSet(lowerHalf, splat(constant(0x0f))),
    ...if_(localGet(open), localSet(foreign, splat(constant(0x80)))),
    ...[...tables, asciiStarts, foreignStarts, powers].flatMap((table, index) =>
      localSet(table, load16(constant(layout.tests + 16 * index))),
    ),
    ...block(
      loop(
        if_(
          localGet(open),
          skip({ at, last, step: 16 }, (offset) => or16(hits(offset), foreigners(offset))),
        ),
        if_(isZero(localGet(open)), skip({ at, last, step: 64 }, hits)),
        br_if(1, isGreater(localGet(at), localGet(last))),
        localSet(candidates, subtract(constant(0xffff), bitmask(equal16(hits(0), localGet(zero))))),
        if_(anyTrue(foreigners(0)), findStarts),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        br(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: `seek_${kind}`, parameters: 7, numbers: 8, vectors: 11, body };
}
