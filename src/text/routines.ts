/** The loops of the kernel. Each looks at sixteen bytes at once, from address `at` to `end`, and answers a count. */
import {
  add,
  add16,
  and16,
  block,
  br,
  br_if,
  type Code,
  constant,
  equal16,
  foursOf16,
  if_,
  isAtLeast,
  isLess,
  less16,
  load16,
  localGet,
  localSet,
  loop,
  multiply,
  oneOf4,
  or16,
  type Routine,
  sixteen,
  splat,
  subtract,
  subtract16,
  swizzle,
} from "../wasm/assembly.ts";
import { escapeBytes } from "./escape-bytes.ts";

const [at, end, count, stop] = [0, 1, 2, 3];
const [bytes, found, often, rare, sums] = [4, 5, 6, 7, 8];

export const textRoutines = (): Routine[] => [
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
        br_if(1, isAtLeast(localGet(at), localGet(end))),
        localSet(stop, add(localGet(at), constant(16 * looks))),
        if_(isLess(localGet(end), localGet(stop)), localSet(stop, localGet(end))),
        localSet(often, each(0)),
        localSet(rare, each(0)),
        block(
          loop(
            br_if(1, isAtLeast(localGet(at), localGet(stop))),
            look,
            localSet(at, add(localGet(at), constant(16))),
            br(0),
          ),
        ),
        localSet(count, add(localGet(count), add(sumOf(often), multiply(sumOf(rare), constant(rareWeight))))),
        br(0),
      ),
    ),
    ...localGet(count),
  ];
  return { name, parameters: 2, numbers: 2, vectors: 5, body };
}

function sumOf(counter: number): Code {
  const one = (index: number) => oneOf4(localGet(sums), index);
  return [...localSet(sums, foursOf16(localGet(counter))), ...add(add(one(0), one(1)), add(one(2), one(3)))];
}

const each = (byte: number): Code => splat(constant(byte));

/** A place that was found is -1. */
const countIn = (counter: number, places: Code): Code =>
  localSet(counter, subtract16(localGet(counter), places));

/** One for each line feed, and 65,536 for each that a carriage return stands before. */
function countEndings(): Code {
  const before = load16(subtract(localGet(at), constant(1)));
  return [
    ...localSet(found, equal16(load16(localGet(at)), each(0x0a))),
    ...countIn(often, localGet(found)),
    ...countIn(rare, and16(localGet(found), equal16(before, each(0x0d)))),
  ];
}

/** As many as each byte needs besides itself, but for the bytes from 16 to 31, which are rare and need five. */
function countEscapes(): Code {
  const marks = or16(equal16(localGet(bytes), each(0x22)), equal16(localGet(bytes), each(0x5c)));
  const first = sixteen([...escapeBytes.slice(0, 16)]);
  return [
    ...localSet(bytes, load16(localGet(at))),
    ...localSet(often, add16(localGet(often), swizzle(first, localGet(bytes)))),
    ...countIn(often, marks),
    ...countIn(rare, less16(subtract16(localGet(bytes), each(16)), each(16))),
  ];
}
