/** The loops of the kernel. Each looks at sixteen bytes at once, from address `at` to `end`, and answers a count. */
import {
  add,
  add16,
  and16,
  block,
  type Code,
  constant,
  equal16,
  foursOf16,
  get,
  go,
  goIf,
  isAtLeast,
  isLess,
  less16,
  load16,
  loop,
  multiply,
  oneOf4,
  or16,
  type Routine,
  set,
  sixteen,
  splat,
  subtract,
  subtract16,
  swizzle,
  when,
} from "../wasm/assembly.ts";
import { escapeBytes } from "./escape-bytes.ts";

const [at, end, count, stop] = [0, 1, 2, 3];
const [bytes, found, often, rare, sums] = [4, 5, 6, 7, 8];

export const routines = (): Routine[] => [
  routine("endings", countEndings(), { mostAtOnce: 1, rareWeight: 0x1_0000 }),
  routine("escapes", countEscapes(), { mostAtOnce: 5, rareWeight: 5 }),
];

interface Counting {
  /** The most that one look adds to a byte of a counter. */
  readonly mostAtOnce: number;
  /** What the counts in `rare` are worth. */
  readonly rareWeight: number;
}

/** `look` counts in the bytes of `often` and of `rare`, which hold up to 255 and are emptied in time. */
function routine(name: string, look: Code, { mostAtOnce, rareWeight }: Counting): Routine {
  const looks = Math.floor(255 / mostAtOnce);
  const body = [
    ...block(
      loop(
        goIf(1, isAtLeast(get(at), get(end))),
        set(stop, add(get(at), constant(16 * looks))),
        when(isLess(get(end), get(stop)), set(stop, get(end))),
        set(often, each(0)),
        set(rare, each(0)),
        block(loop(goIf(1, isAtLeast(get(at), get(stop))), look, set(at, add(get(at), constant(16))), go(0))),
        set(count, add(get(count), add(sumOf(often), multiply(sumOf(rare), constant(rareWeight))))),
        go(0),
      ),
    ),
    ...get(count),
  ];
  return { name, parameters: 2, numbers: 2, vectors: 5, body };
}

function sumOf(counter: number): Code {
  const one = (index: number) => oneOf4(get(sums), index);
  return [...set(sums, foursOf16(get(counter))), ...add(add(one(0), one(1)), add(one(2), one(3)))];
}

const each = (byte: number): Code => splat(constant(byte));

/** A place that was found is -1. */
const countIn = (counter: number, places: Code): Code => set(counter, subtract16(get(counter), places));

/** One for each line feed, and 65,536 for each that a carriage return stands before. */
function countEndings(): Code {
  const before = load16(subtract(get(at), constant(1)));
  return [
    ...set(found, equal16(load16(get(at)), each(0x0a))),
    ...countIn(often, get(found)),
    ...countIn(rare, and16(get(found), equal16(before, each(0x0d)))),
  ];
}

/** As many as each byte needs besides itself, but for the bytes from 16 to 31, which are rare and need five. */
function countEscapes(): Code {
  const marks = or16(equal16(get(bytes), each(0x22)), equal16(get(bytes), each(0x5c)));
  const first = sixteen([...escapeBytes.slice(0, 16)]);
  return [
    ...set(bytes, load16(get(at))),
    ...set(often, add16(get(often), swizzle(first, get(bytes)))),
    ...countIn(often, marks),
    ...countIn(rare, less16(subtract16(get(bytes), each(16)), each(16))),
  ];
}
