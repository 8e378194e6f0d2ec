import {
  block,
  br,
  br_if,
  type Code,
  i8x16_bitmask,
  i8x16_eq,
  i8x16_min_u,
  i8x16_splat,
  i8x16_sub,
  i8x16_swizzle,
  i16x8_shr_u,
  i32_add,
  i32_and,
  i32_const,
  i32_eq,
  i32_eqz,
  i32_ge_s,
  i32_gt_s,
  i32_load8_u,
  i32_or,
  i32_shl,
  i32_sub,
  if_,
  local_get,
  local_set,
  loop,
  type Routine,
  return_,
  v128_and,
  v128_any_true,
  v128_load,
  v128_or,
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
    const loaded = v128_load(i32_add(local_get(at), local_get(which)), offset);
    if (kind === "byte") return i8x16_eq(loaded, local_get(one));
    if (kind === "range") {
      return [
        ...local_set(bytes, i8x16_sub(loaded, local_get(one))),
        ...i8x16_eq(i8x16_min_u(local_get(bytes), local_get(other)), local_get(bytes)),
      ];
    }
    return [
      ...local_set(bytes, loaded),
      ...v128_and(
        i8x16_swizzle(local_get(one), v128_and(local_get(bytes), local_get(lowerHalf))),
        i8x16_swizzle(
          local_get(other),
          v128_and(i16x8_shr_u(local_get(bytes), i32_const(4)), local_get(lowerHalf)),
        ),
      ),
    ];
  };
  const hits = (offset: number): Code =>
    v128_and(test(first, tables[0], tables[1], offset), test(second, tables[2], tables[3], offset));
  const foreigners = (offset: number): Code =>
    v128_and(
      v128_or(v128_load(local_get(at), offset), v128_load(i32_add(local_get(at), local_get(length)), offset)),
      local_get(foreign),
    );
  // By its lower half, a byte has the upper halves that a form's first one may have beside that.
  const startsBy = (table: number) =>
    i32_sub(
      i32_const(0xffff),
      i8x16_bitmask(
        i8x16_eq(
          v128_and(
            i8x16_swizzle(local_get(table), v128_and(local_get(bytes), local_get(lowerHalf))),
            i8x16_swizzle(
              local_get(powers),
              v128_and(i16x8_shr_u(local_get(bytes), i32_const(4)), local_get(lowerHalf)),
            ),
          ),
          local_get(zero),
        ),
      ),
    );
  const findStarts = [
    ...local_set(bytes, v128_load(local_get(at))),
    ...local_set(past, i8x16_bitmask(local_get(bytes))),
    ...local_set(
      candidates,
      i32_or(
        i32_and(startsBy(foreignStarts), local_get(past)),
        i32_and(startsBy(asciiStarts), i32_sub(i32_const(0xffff), local_get(past))),
      ),
    ),
  ];
  // A set with every byte past ASCII has U+FFFD in it: it may be shown for bytes that are no character.
  const everyByte = i32_load8_u(i32_shl(local_get(position), i32_const(8)), layout.shape + 0xff);
  const character = [
    ...if_(i32_and(local_get(forms), everyByte), return_(local_get(start))),
    ...next(reached, 1),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xe0)), next(reached, 1)),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xf0)), next(reached, 1)),
  ];
  const look = block(
    local_set(position, i32_const(0)),
    local_set(forms, i32_const(0xff)),
    local_set(reached, local_get(start)),
    loop(
      if_(i32_eq(local_get(position), local_get(depth)), return_(local_get(start))),
      local_set(byte, i32_load8_u(local_get(reached))),
      local_set(
        forms,
        i32_and(
          local_get(forms),
          i32_load8_u(i32_add(i32_shl(local_get(position), i32_const(8)), local_get(byte)), layout.shape),
        ),
      ),
      br_if(1, i32_eqz(local_get(forms))),
      if_(i32_ge_s(local_get(byte), i32_const(0x80)), character),
      next(reached, 1),
      next(position, 1),
      br(0),
    ),
  );
  const body = [
    ...local_set(last, i32_sub(local_get(end), local_get(length))),
    ...local_set(lowerHalf, i8x16_splat(i32_const(0x0f))),
    ...if_(local_get(open), local_set(foreign, i8x16_splat(i32_const(0x80)))),
    ...[...tables, asciiStarts, foreignStarts, powers].flatMap((table, index) =>
      local_set(table, v128_load(i32_const(layout.tests + 16 * index))),
    ),
    ...block(
      loop(
        if_(
          local_get(open),
          skip({ at, last, step: 16 }, (offset) => v128_or(hits(offset), foreigners(offset))),
        ),
        if_(i32_eqz(local_get(open)), skip({ at, last, step: 64 }, hits)),
        br_if(1, i32_gt_s(local_get(at), local_get(last))),
        local_set(candidates, i32_sub(i32_const(0xffff), i8x16_bitmask(i8x16_eq(hits(0), local_get(zero))))),
        if_(v128_any_true(foreigners(0)), findStarts),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        br(0),
      ),
    ),
    ...i32_const(-1),
  ];
  return { name: `seek_${kind}`, parameters: 7, numbers: 8, vectors: 11, body };
}
