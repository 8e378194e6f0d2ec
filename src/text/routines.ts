/** The loops of the kernel. Each looks at sixteen bytes at once, from address `at` to `end`, and answers a count. */
import {
  add,
  and16,
  andNot16,
  block,
  type Code,
  constant,
  countOnes,
  equal16,
  get,
  go,
  goIf,
  isAtLeast,
  less16,
  load16,
  loop,
  or16,
  type Routine,
  set,
  shiftLeft,
  splat,
  subtract,
  subtract16,
  toBits,
} from "../wasm/assembly.ts";

const [at, end, count] = [0, 1, 2];
const [bytes, found] = [3, 4];

export const routines = (): Routine[] => [
  { name: "endings", parameters: 2, numbers: 1, vectors: 2, body: overSixteens(countEndings()) },
  { name: "escapes", parameters: 2, numbers: 1, vectors: 2, body: overSixteens(countEscapes()) },
];

const overSixteens = (look: Code): Code => [
  ...block(
    loop(
      goIf(1, isAtLeast(get(at), get(end))),
      set(bytes, load16(get(at))),
      look,
      set(at, add(get(at), constant(16))),
      go(0),
    ),
  ),
  ...get(count),
];

const each = (byte: number): Code => splat(constant(byte));
const among = (places: Code): Code => countOnes(toBits(places));

/** One for each line feed, and 65,536 for each that a carriage return stands before. */
function countEndings(): Code {
  const before = load16(subtract(get(at), constant(1)));
  const afterReturn = and16(get(found), equal16(before, each(0x0d)));
  return [
    ...set(found, equal16(get(bytes), each(0x0a))),
    ...set(count, add(add(get(count), among(get(found))), shiftLeft(among(afterReturn), constant(16)))),
  ];
}

/** One for each quote, backslash and control character, and four more for those that have no short escape. */
function countEscapes(): Code {
  const marks = or16(equal16(get(bytes), each(0x22)), equal16(get(bytes), each(0x5c)));
  // Backspace, tab, line feed, form feed and carriage return: 8 to 13 without 11.
  const short = andNot16(less16(subtract16(get(bytes), each(8)), each(6)), equal16(get(bytes), each(11)));
  const long = shiftLeft(among(andNot16(get(found), short)), constant(2));
  return [
    ...set(found, less16(get(bytes), each(0x20))),
    ...set(count, add(add(get(count), among(or16(get(found), marks))), long)),
  ];
}
