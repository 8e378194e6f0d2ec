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
} from "../../base/wasm/assembly.ts";
import { layout } from "./layout.ts";
import { forEachCandidate, increment, skipToCandidate } from "./loops.ts";
import type { Fingerprint } from "./teddy.ts";

/** The indices of the operands, then of the locals: numbers first, then vectors. */
const [at, end, minLength, maxLength, first, second, hasNonAscii] = [0, 1, 2, 3, 4, 5, 6];
const [last, candidates, start, position, buckets, byte, reached, nonAscii] = [7, 8, 9, 10, 11, 12, 13, 14];
const [lowNibble, zero, bytes, highBit] = [15, 16, 17, 18];
/** The vectors of `TeddyMasks`: two for each position of the packed pair, three for the first byte. */
const [firstMask, firstOther, secondMask, secondOther] = [19, 20, 21, 22];
const [asciiStarts, nonAsciiStarts, powers] = [23, 24, 25];

/**
 * teddy_byte, teddy_range, teddy_nibbles(at, end, minLength, maxLength, first, second, hasNonAscii): returns
 * the first address in [at, end) where one of the sequences of `minLength` to `maxLength` characters may
 * occur, or -1. `first` and `second` are the positions of the packed pair. `hasNonAscii` is 0 if the
 * sequences or the text are pure ASCII.
 */
export function teddy(kind: Fingerprint): Routine {
  const body = [...prepare(), ...block(search(kind)), ...i32_const(-1)];
  return { name: `teddy_${kind}`, parameters: 7, numbers: 8, vectors: 11, body };
}

/** Sets the locals that never change. */
function prepare(): Code {
  const masks = [firstMask, firstOther, secondMask, secondOther, asciiStarts, nonAsciiStarts, powers];
  return [
    ...local_set(last, i32_sub(local_get(end), local_get(minLength))),
    ...local_set(lowNibble, i8x16_splat(i32_const(0x0f))),
    ...if_(local_get(hasNonAscii), local_set(highBit, i8x16_splat(i32_const(0x80)))),
    ...masks.flatMap((mask, index) => local_set(mask, v128_load(i32_const(layout.vectors + 16 * index)))),
  ];
}

/** Verifies candidates, sixteen bytes at a time. Leaves the enclosing block past `last`. */
function search(kind: Fingerprint): Code {
  const candidatesAt = (offset: number) => comparePair(kind, offset);
  const orNonAscii = (offset: number) => v128_or(candidatesAt(offset), nonAsciiAt(offset));
  const noCandidate = i8x16_eq(candidatesAt(0), local_get(zero));
  return loop(
    if_(local_get(hasNonAscii), skipToCandidate({ at, last, step: 16 }, orNonAscii)),
    if_(i32_eqz(local_get(hasNonAscii)), skipToCandidate({ at, last, step: 64 }, candidatesAt)),
    br_if(1, i32_gt_s(local_get(at), local_get(last))),
    local_set(candidates, complement(i8x16_bitmask(noCandidate))),
    if_(v128_any_true(nonAsciiAt(0)), findByFirstByte()),
    forEachCandidate({ at, last, candidates, start }, verify()),
    increment(at, 16),
    br(0),
  );
}

/** Computes nonzero lanes where both bytes of the packed pair match. */
const comparePair = (kind: Fingerprint, offset: number): Code =>
  v128_and(
    compare(kind, { position: first, one: firstMask, other: firstOther }, offset),
    compare(kind, { position: second, one: secondMask, other: secondOther }, offset),
  );

function compare(
  kind: Fingerprint,
  { position, one, other }: { position: number; one: number; other: number },
  offset: number,
): Code {
  const loaded = v128_load(i32_add(local_get(at), local_get(position)), offset);
  if (kind === "byte") return i8x16_eq(loaded, local_get(one));
  if (kind === "range") {
    return [
      ...local_set(bytes, i8x16_sub(loaded, local_get(one))),
      ...i8x16_eq(i8x16_min_u(local_get(bytes), local_get(other)), local_get(bytes)),
    ];
  }
  return [...local_set(bytes, loaded), ...combineNibbles(one, other)];
}

/**
 * Combines, for each of `bytes`, the entry of `low` for its low nibble with that of `high` for its high one,
 * by `and`.
 */
const combineNibbles = (low: number, high: number): Code =>
  v128_and(
    i8x16_swizzle(local_get(low), v128_and(local_get(bytes), local_get(lowNibble))),
    i8x16_swizzle(
      local_get(high),
      v128_and(i16x8_shr_u(local_get(bytes), i32_const(4)), local_get(lowNibble)),
    ),
  );

/** Computes nonzero lanes where a non-ASCII byte stands there, or `minLength` later. */
const nonAsciiAt = (offset: number): Code =>
  v128_and(
    v128_or(
      v128_load(local_get(at), offset),
      v128_load(i32_add(local_get(at), local_get(minLength)), offset),
    ),
    local_get(highBit),
  );

/**
 * Sets `candidates` by first bytes alone, because after a non-ASCII character positions differ from offsets.
 */
function findByFirstByte(): Code {
  const ofNonAscii = i32_and(firstByteIn(nonAsciiStarts), local_get(nonAscii));
  const ofAscii = i32_and(firstByteIn(asciiStarts), complement(local_get(nonAscii)));
  return [
    ...local_set(bytes, v128_load(local_get(at))),
    ...local_set(nonAscii, i8x16_bitmask(local_get(bytes))),
    ...local_set(candidates, i32_or(ofNonAscii, ofAscii)),
  ];
}

/**
 * Computes a bit for each of `bytes` that may be the first. The table holds the high nibbles that go with
 * each low one.
 */
const firstByteIn = (table: number): Code =>
  complement(i8x16_bitmask(i8x16_eq(combineNibbles(table, powers), local_get(zero))));

const complement = (bits: Code): Code => i32_sub(i32_const(0xffff), bits);

/**
 * Follows the sequences from `start` character by character. Returns `start` if one of them may occur there.
 */
const verify = (): Code =>
  block(
    local_set(position, i32_const(0)),
    local_set(buckets, i32_const(0xff)),
    local_set(reached, local_get(start)),
    loop(
      if_(i32_eq(local_get(position), local_get(maxLength)), return_(local_get(start))),
      local_set(byte, i32_load8_u(local_get(reached))),
      local_set(buckets, i32_and(local_get(buckets), bucketsOf(local_get(byte)))),
      br_if(1, i32_eqz(local_get(buckets))),
      if_(i32_ge_s(local_get(byte), i32_const(0x80)), skipCharacter()),
      increment(reached, 1),
      increment(position, 1),
      br(0),
    ),
  );

const bucketsOf = (value: Code): Code =>
  i32_load8_u(i32_add(i32_shl(local_get(position), i32_const(8)), value), layout.buckets);

/** Advances `reached` to the last byte of a non-ASCII character. */
function skipCharacter(): Code {
  // A class with every non-ASCII byte contains U+FFFD, which a decoded line may hold for bytes that are not a
  // character.
  const everyByte = i32_load8_u(i32_shl(local_get(position), i32_const(8)), layout.buckets + 0xff);
  return [
    ...if_(i32_and(local_get(buckets), everyByte), return_(local_get(start))),
    ...increment(reached, 1),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xe0)), increment(reached, 1)),
    ...if_(i32_ge_s(local_get(byte), i32_const(0xf0)), increment(reached, 1)),
  ];
}
