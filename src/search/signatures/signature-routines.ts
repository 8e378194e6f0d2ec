import {
  block,
  br,
  br_if,
  type Code,
  i8x16_bitmask,
  i32_add,
  i32_and,
  i32_const,
  i32_ge_s,
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
  local_get,
  local_set,
  loop,
  type Routine,
  v128_const,
  v128_load,
  v128_store,
} from "../../base/wasm/assembly.ts";
import { hashMultiplier } from "./ngrams.ts";

/** The value of a mark, whose top bit `i8x16_bitmask` collects. */
const mark = 0x80;

/**
 * mark_ngrams(at, end, marks, mask): marks the hashes of the n-grams in [at, end), reduced by the mask, each
 * with a byte in the table at `marks`. The text has at least two bytes.
 */
export function markNgrams(): Routine {
  const [at, end, marks, mask, ngram, byte, hash] = [0, 1, 2, 3, 4, 5, 6];
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
  const body = [
    ...shiftIn,
    ...shiftIn,
    ...block(
      loop(
        br_if(1, i32_ge_s(local_get(at), local_get(end))),
        shiftIn,
        markHashOf(i32_shr_u(local_get(ngram), i32_const(8))),
        // The first 4-gram does not count: it has a NUL byte before the text.
        markHashOf(local_get(ngram)),
        br(0),
      ),
    ),
    ...i32_const(0),
  ];
  return { name: "mark_ngrams", parameters: 4, numbers: 3, vectors: 0, body };
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
