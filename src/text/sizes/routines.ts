/**
 * The loops of the kernel. Each reads sixteen bytes at once, from address `at` to `end`, and returns a count.
 */
import {
  block,
  br,
  br_if,
  type Code,
  i8x16_add,
  i8x16_eq,
  i8x16_lt_u,
  i8x16_splat,
  i8x16_sub,
  i8x16_swizzle,
  i16x8_extadd_pairwise_i8x16_u,
  i32_add,
  i32_const,
  i32_ge_s,
  i32_lt_s,
  i32_mul,
  i32_sub,
  i32x4_extadd_pairwise_i16x8_u,
  i32x4_extract_lane,
  if_,
  local_get,
  local_set,
  loop,
  type Routine,
  v128_and,
  v128_const,
  v128_load,
  v128_or,
} from "../../base/wasm/assembly.ts";
import { escapeBytes } from "./escape-bytes.ts";

const [at, end, count, stop] = [0, 1, 2, 3];
const [bytes, found, often, rare, sums] = [4, 5, 6, 7, 8];

export const textRoutines = (): Routine[] => [
  routine("endings", countEndings(), { maxPerStep: 1, rareWeight: 0x1_0000 }),
  routine("escapes", countEscapes(), { maxPerStep: 5, rareWeight: 5 }),
];

interface Counting {
  /** Maximum that one step adds to a byte of a counter. */
  readonly maxPerStep: number;
  /** The weight of one count in `rare` in the result. */
  readonly rareWeight: number;
}

/**
 * Returns a routine. `step` counts in the bytes of `often` and of `rare`, which hold up to 255; the loop
 * empties them in time.
 */
function routine(name: string, step: Code, { maxPerStep, rareWeight }: Counting): Routine {
  const steps = Math.floor(255 / maxPerStep);
  const body = [
    ...block(
      loop(
        br_if(1, i32_ge_s(local_get(at), local_get(end))),
        local_set(stop, i32_add(local_get(at), i32_const(16 * steps))),
        if_(i32_lt_s(local_get(end), local_get(stop)), local_set(stop, local_get(end))),
        local_set(often, each(0)),
        local_set(rare, each(0)),
        block(
          loop(
            br_if(1, i32_ge_s(local_get(at), local_get(stop))),
            step,
            local_set(at, i32_add(local_get(at), i32_const(16))),
            br(0),
          ),
        ),
        local_set(
          count,
          i32_add(local_get(count), i32_add(sumOf(often), i32_mul(sumOf(rare), i32_const(rareWeight)))),
        ),
        br(0),
      ),
    ),
    ...local_get(count),
  ];
  return { name, parameters: 2, numbers: 2, vectors: 5, body };
}

/** Returns the sum of the sixteen counters in a local. */
function sumOf(counters: number): Code {
  const lane = (index: number) => i32x4_extract_lane(local_get(sums), index);
  const fours = i32x4_extadd_pairwise_i16x8_u(i16x8_extadd_pairwise_i8x16_u(local_get(counters)));
  return [...local_set(sums, fours), ...i32_add(i32_add(lane(0), lane(1)), i32_add(lane(2), lane(3)))];
}

const each = (byte: number): Code => i8x16_splat(i32_const(byte));

/** Adds to a counter. A comparison that holds is -1. */
const countIn = (counter: number, lanes: Code): Code =>
  local_set(counter, i8x16_sub(local_get(counter), lanes));

/** Counts one for each line feed, and 65,536 for each after a carriage return. */
function countEndings(): Code {
  const before = v128_load(i32_sub(local_get(at), i32_const(1)));
  return [
    ...local_set(found, i8x16_eq(v128_load(local_get(at)), each(0x0a))),
    ...countIn(often, local_get(found)),
    ...countIn(rare, v128_and(local_get(found), i8x16_eq(before, each(0x0d)))),
  ];
}

/**
 * Counts the bytes that JSON needs for each byte besides itself. The bytes from 16 to 31 are rare and need
 * five.
 */
function countEscapes(): Code {
  const marks = v128_or(i8x16_eq(local_get(bytes), each(0x22)), i8x16_eq(local_get(bytes), each(0x5c)));
  const first = v128_const([...escapeBytes.slice(0, 16)]);
  return [
    ...local_set(bytes, v128_load(local_get(at))),
    ...local_set(often, i8x16_add(local_get(often), i8x16_swizzle(first, local_get(bytes)))),
    ...countIn(often, marks),
    ...countIn(rare, i8x16_lt_u(i8x16_sub(local_get(bytes), each(16)), each(16))),
  ];
}
