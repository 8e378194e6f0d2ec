import {
  block,
  br,
  br_if,
  type Code,
  i8x16_bitmask,
  i8x16_lt_u,
  i8x16_sub,
  i8x16_swizzle,
  i32_add,
  i32_and,
  i32_const,
  i32_ge_s,
  i32_gt_s,
  i32_load8_u,
  i32_lt_u,
  i32_mul,
  i32_or,
  i32_popcnt,
  i32_shl,
  i32_shr_u,
  i32_store8,
  i32_store16,
  i32_sub,
  i32_xor,
  i32x4_add,
  i32x4_extract_lane,
  i32x4_mul,
  i32x4_shr_u,
  i32x4_splat,
  local_get,
  local_set,
  loop,
  type Routine,
  v128_and,
  v128_const,
  v128_load,
  v128_or,
  v128_store,
  v128_xor,
} from "../../base/wasm/assembly.ts";
import { hashMultiplier } from "./ngrams.ts";

/** The value of a mark, whose top bit `i8x16_bitmask` collects. */
const mark = 0x80;

/** The locals of `mark_ngrams`: parameters, numbers, and vectors. */
const [at, end, marks, mask] = [0, 1, 2, 3];
const [ngram, byte, hash] = [4, 5, 6];
const [text, ngrams, hashes, bases, masks] = [7, 8, 9, 10, 11];

/**
 * mark_ngrams(at, end, marks, mask): marks the hashes of the n-grams in [at, end), reduced by the mask, each
 * with a byte in the table at `marks`. The text has at least two bytes.
 */
export function markNgrams(): Routine {
  // At least four bytes are left after the vectors, or all of a short text.
  const body = [...markByVectors(), ...markByBytes(), ...i32_const(0)];
  return { name: "mark_ngrams", parameters: 4, numbers: 3, vectors: 5, body };
}

/** The n-grams of each length that a vector of 16 bytes has, in groups of four. */
const groups = 3;

/** Marks n-grams, four at a time, as long as the text has a whole vector. */
function markByVectors(): Code {
  const markHashesOf = (words: Code): Code => [
    ...local_set(hashes, i32x4_mul(words, i32x4_splat(i32_const(hashMultiplier)))),
    ...local_set(hashes, v128_xor(local_get(hashes), i32x4_shr_u(local_get(hashes), i32_const(16)))),
    ...local_set(hashes, i32x4_add(v128_and(local_get(hashes), local_get(masks)), local_get(bases))),
    ...[0, 1, 2, 3].flatMap((lane) =>
      i32_store8(i32x4_extract_lane(local_get(hashes), lane), i32_const(mark)),
    ),
  ];
  const trigrams = v128_const([0, 1, 2, 3].flatMap(() => [0xff, 0xff, 0xff, 0]));
  const markGroup = (group: number): Code => {
    const places = [0, 1, 2, 3].flatMap((lane) => [0, 1, 2, 3].map((place) => 4 * group + lane + place));
    return [
      ...local_set(ngrams, i8x16_swizzle(local_get(text), v128_const(places))),
      ...markHashesOf(local_get(ngrams)),
      ...markHashesOf(v128_and(local_get(ngrams), trigrams)),
    ];
  };
  const everywhere = (value: number): Code => v128_const(Array<number>(16).fill(value));
  const isUpperCase = i8x16_lt_u(i8x16_sub(local_get(text), everywhere(0x41)), everywhere(26));
  return [
    ...local_set(bases, i32x4_splat(local_get(marks))),
    ...local_set(masks, i32x4_splat(local_get(mask))),
    ...block(
      loop(
        br_if(1, i32_gt_s(i32_add(local_get(at), i32_const(16)), local_get(end))),
        local_set(text, v128_load(local_get(at))),
        local_set(text, v128_or(local_get(text), v128_and(isUpperCase, everywhere(0x20)))),
        ...Array.from({ length: groups }, (_, group) => markGroup(group)),
        local_set(at, i32_add(local_get(at), i32_const(4 * groups))),
        br(0),
      ),
    ),
  ];
}

/** Marks the n-grams of the rest, one at a time. */
function markByBytes(): Code {
  /** Shifts the next byte, folded, into the fourth place of the 4-gram. */
  const shiftIn: Code = [
    ...local_set(byte, i32_load8_u(local_get(at))),
    ...local_set(at, i32_add(local_get(at), i32_const(1))),
    ...local_set(
      byte,
      i32_or(
        local_get(byte),
        i32_shl(i32_lt_u(i32_sub(local_get(byte), i32_const(0x41)), i32_const(26)), i32_const(5)),
      ),
    ),
    ...local_set(
      ngram,
      i32_or(i32_shr_u(local_get(ngram), i32_const(8)), i32_shl(local_get(byte), i32_const(24))),
    ),
  ];
  const markHashOf = (word: Code): Code => [
    ...local_set(hash, i32_mul(word, i32_const(hashMultiplier))),
    ...local_set(hash, i32_xor(local_get(hash), i32_shr_u(local_get(hash), i32_const(16)))),
    ...i32_store8(i32_add(local_get(marks), i32_and(local_get(hash), local_get(mask))), i32_const(mark)),
  ];
  return [
    ...shiftIn,
    ...shiftIn,
    ...block(
      loop(
        br_if(1, i32_ge_s(local_get(at), local_get(end))),
        shiftIn,
        markHashOf(i32_shr_u(local_get(ngram), i32_const(8))),
        // The first 4-gram does not count: it has a NUL byte before these bytes.
        markHashOf(local_get(ngram)),
        br(0),
      ),
    ),
  ];
}

/**
 * pack_marks(marks, end, bits): writes a bit for each byte of [marks, end), whose length is a multiple of
 * sixteen, from `bits` on. Clears the bytes, and returns how many were marked.
 */
export function packMarks(): Routine {
  const [marks, end, bits, packed, count] = [0, 1, 2, 3, 4];
  const body = [
    ...block(
      loop(
        br_if(1, i32_ge_s(local_get(marks), local_get(end))),
        local_set(packed, i8x16_bitmask(v128_load(local_get(marks)))),
        v128_store(local_get(marks), v128_const(Array<number>(16).fill(0))),
        i32_store16(local_get(bits), local_get(packed)),
        local_set(count, i32_add(local_get(count), i32_popcnt(local_get(packed)))),
        local_set(marks, i32_add(local_get(marks), i32_const(16))),
        local_set(bits, i32_add(local_get(bits), i32_const(2))),
        br(0),
      ),
    ),
    ...local_get(count),
  ];
  return { name: "pack_marks", parameters: 3, numbers: 2, vectors: 0, body };
}
