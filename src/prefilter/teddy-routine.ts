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
import { forEachCandidate, increment, skipToCandidate } from "./loops.ts";
import type { Fingerprint } from "./teddy.ts";

/**
 * teddy_byte, teddy_range, teddy_nibbles(at, end, minLength, maxLength, first, second, hasNonAscii): the first place in
 * [at, end) where one of the sequences of `minLength` to `maxLength` characters may stand, or -1. `first` and `second` are
 * the positions of the packed pair; `hasNonAscii` is 0 where sequences or text are ASCII alone.
 */
export function teddy(kind: Fingerprint): Routine {
  const [at, end, minLength, maxLength, first, second, hasNonAscii] = [0, 1, 2, 3, 4, 5, 6];
  const [last, candidates, start, position, buckets, byte, reached, nonAscii] = [7, 8, 9, 10, 11, 12, 13, 14];
  const [lowNibble, zero, bytes, highBit] = [15, 16, 17, 18];
  const tables = [19, 20, 21, 22] as const;
  const [asciiStarts, nonAsciiStarts, powers] = [23, 24, 25];
  const compare = (which: number, one: number, other: number, offset: number): Code => {
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
        i8x16_swizzle(local_get(one), v128_and(local_get(bytes), local_get(lowNibble))),
        i8x16_swizzle(
          local_get(other),
          v128_and(i16x8_shr_u(local_get(bytes), i32_const(4)), local_get(lowNibble)),
        ),
      ),
    ];
  };
  const candidatesAt = (offset: number): Code =>
    v128_and(compare(first, tables[0], tables[1], offset), compare(second, tables[2], tables[3], offset));
  const nonAsciiAt = (offset: number): Code =>
    v128_and(
      v128_or(
        v128_load(local_get(at), offset),
        v128_load(i32_add(local_get(at), local_get(minLength)), offset),
      ),
      local_get(highBit),
    );
  // The table holds for each low nibble the high nibbles that a first byte may have beside it.
  const firstByteIn = (table: number) =>
    i32_sub(
      i32_const(0xffff),
      i8x16_bitmask(
        i8x16_eq(
          v128_and(
            i8x16_swizzle(local_get(table), v128_and(local_get(bytes), local_get(lowNibble))),
            i8x16_swizzle(
              local_get(powers),
              v128_and(i16x8_shr_u(local_get(bytes), i32_const(4)), local_get(lowNibble)),
            ),
          ),
          local_get(zero),
        ),
      ),
    );
  const findByFirstByte = [
    ...local_set(bytes, v128_load(local_get(at))),
    ...local_set(nonAscii, i8x16_bitmask(local_get(bytes))),
    ...local_set(
      candidates,
      i32_or(
        i32_and(firstByteIn(nonAsciiStarts), local_get(nonAscii)),
        i32_and(firstByteIn(asciiStarts), i32_sub(i32_const(0xffff), local_get(nonAscii))),
      ),
    ),
  ];
  // A class with every byte past ASCII holds U+FFFD, which a decoded line may hold for bytes that are no character.
  const everyByte = i32_load8_u(i32_shl(local_get(position), i32_const(8)), layout.buckets + 0xff);
  const character = [
    ...if_(i32_and(local_get(buckets), everyByte), return_(local_get(start))),
    ...increment(reached, 1),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xe0)), increment(reached, 1)),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xf0)), increment(reached, 1)),
  ];
  const verify = block(
    local_set(position, i32_const(0)),
    local_set(buckets, i32_const(0xff)),
    local_set(reached, local_get(start)),
    loop(
      if_(i32_eq(local_get(position), local_get(maxLength)), return_(local_get(start))),
      local_set(byte, i32_load8_u(local_get(reached))),
      local_set(
        buckets,
        i32_and(
          local_get(buckets),
          i32_load8_u(i32_add(i32_shl(local_get(position), i32_const(8)), local_get(byte)), layout.buckets),
        ),
      ),
      br_if(1, i32_eqz(local_get(buckets))),
      if_(i32_ge_s(local_get(byte), i32_const(0x80)), character),
      increment(reached, 1),
      increment(position, 1),
      br(0),
    ),
  );
  const body = [
    ...local_set(last, i32_sub(local_get(end), local_get(minLength))),
    ...local_set(lowNibble, i8x16_splat(i32_const(0x0f))),
    ...if_(local_get(hasNonAscii), local_set(highBit, i8x16_splat(i32_const(0x80)))),
    ...[...tables, asciiStarts, nonAsciiStarts, powers].flatMap((table, index) =>
      local_set(table, v128_load(i32_const(layout.vectors + 16 * index))),
    ),
    ...block(
      loop(
        if_(
          local_get(hasNonAscii),
          skipToCandidate({ at, last, step: 16 }, (offset) =>
            v128_or(candidatesAt(offset), nonAsciiAt(offset)),
          ),
        ),
        if_(i32_eqz(local_get(hasNonAscii)), skipToCandidate({ at, last, step: 64 }, candidatesAt)),
        br_if(1, i32_gt_s(local_get(at), local_get(last))),
        local_set(
          candidates,
          i32_sub(i32_const(0xffff), i8x16_bitmask(i8x16_eq(candidatesAt(0), local_get(zero)))),
        ),
        if_(v128_any_true(nonAsciiAt(0)), findByFirstByte),
        forEachCandidate({ at, last, candidates, start }, verify),
        increment(at, 16),
        br(0),
      ),
    ),
    ...i32_const(-1),
  ];
  return { name: `teddy_${kind}`, parameters: 7, numbers: 8, vectors: 11, body };
}
