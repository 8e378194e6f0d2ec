/**
 * The loops that JavaScript has no fast way to write. Each compares sixteen places of a text at once; what is loaded
 * behind the end of a text is not looked at.
 */
import {
  add,
  and,
  and16,
  answer,
  block,
  type Code,
  constant,
  countOnes,
  equal16,
  get,
  go,
  goIf,
  isAny,
  isAtLeast,
  isEqual,
  isGreater,
  isLess,
  isUnequal,
  isZero,
  lesser16,
  load16,
  loadByte,
  loop,
  or,
  or16,
  type Routine,
  set,
  shiftLeft,
  shiftRight8,
  splat,
  subtract,
  subtract16,
  swizzle,
  toBits,
  trailingZeros,
  when,
} from "../wasm/assembly.ts";

/** Where the routines find what they look for: in the first page of the memory. */
export const layout = {
  /** Bytes of a folded string, and as many folds behind them. */
  string: 0,
  longestString: 1024,
  /** For each position of a shape, 256 bytes: of each byte, which forms of the shape may have it there. */
  shape: 4096,
  longestShape: 16,
  /** Two times sixteen bytes for each of the two positions that are compared first. */
  tests: 8192,
} as const;

const next = (local: number, step: number): Code => set(local, add(get(local), constant(step)));

/** Moves `at` on to where `hits` finds something in one of the next 32 places, or past `last`. */
function skip({ at, last }: { at: number; last: number }, hits: (offset: number) => Code): Code {
  return block(
    loop(
      goIf(1, isGreater(get(at), get(last))),
      goIf(1, isAny(or16(hits(0), hits(16)))),
      next(at, 32),
      go(0),
    ),
  );
}

/** Calls `look` with each candidate of the sixteen places from `at` on, in turn; leaves when it is past `last`. */
function inTurn(
  { at, last, candidates, start }: { at: number; last: number; candidates: number; start: number },
  look: Code,
): Code {
  return block(
    loop(
      goIf(1, isZero(get(candidates))),
      set(start, add(get(at), trailingZeros(get(candidates)))),
      goIf(1, isGreater(get(start), get(last))),
      look,
      set(candidates, and(get(candidates), subtract(get(candidates), constant(1)))),
      go(0),
    ),
  );
}

/** find(at, end, length, first, second): the first place in [at, end) where the folded string stands, or -1. */
function find(): Routine {
  const [at, end, length, first, second, last, candidates, start, position] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [firstByte, firstFold, secondByte, secondFold] = [9, 10, 11, 12];
  const { longestString: folds } = layout;
  const spread = (which: number, byte: number, fold: number): Code => [
    ...set(byte, splat(loadByte(get(which)))),
    ...set(fold, splat(loadByte(get(which), folds))),
  ];
  const compare = (which: number, byte: number, fold: number, offset: number): Code =>
    equal16(or16(load16(add(get(at), get(which)), offset), get(fold)), get(byte));
  const hits = (offset: number): Code =>
    and16(compare(first, firstByte, firstFold, offset), compare(second, secondByte, secondFold, offset));
  const look = block(
    set(position, constant(0)),
    loop(
      when(isEqual(get(position), get(length)), answer(get(start))),
      goIf(
        1,
        isUnequal(
          or(loadByte(add(get(start), get(position))), loadByte(get(position), folds)),
          loadByte(get(position)),
        ),
      ),
      next(position, 1),
      go(0),
    ),
  );
  const body = [
    ...set(last, subtract(get(end), get(length))),
    ...spread(first, firstByte, firstFold),
    ...spread(second, secondByte, secondFold),
    ...block(
      loop(
        skip({ at, last }, hits),
        goIf(1, isGreater(get(at), get(last))),
        set(candidates, toBits(hits(0))),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        go(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: "find", parameters: 5, numbers: 4, vectors: 4, body };
}

/** count(at, end): how many newlines there are in [at, end). */
function count(): Routine {
  const [at, end, sum, newlines] = [0, 1, 2, 3];
  const found = (offset: number) => toBits(equal16(load16(get(at), offset), get(newlines)));
  const ofEnd = subtract(shiftLeft(constant(1), subtract(get(end), get(at))), constant(1));
  const counted = (bits: Code) => set(sum, add(get(sum), countOnes(bits)));
  const countBy = (step: number) =>
    block(
      loop(
        goIf(1, isGreater(add(get(at), constant(step)), get(end))),
        ...Array.from({ length: step / 16 }, (_, index) => counted(found(16 * index))),
        next(at, step),
        go(0),
      ),
    );
  const body = [
    ...set(newlines, splat(constant(0x0a))),
    ...countBy(64),
    ...countBy(16),
    ...when(isLess(get(at), get(end)), counted(and(found(0), ofEnd))),
    ...get(sum),
  ];
  return { name: "count", parameters: 2, numbers: 1, vectors: 1, body };
}

/**
 * How sixteen bytes are tested: each against a range, of which the first byte and the length are told, or by its
 * halves, of each of which the forms are told that may have it.
 */
type Test = "range" | "halves";

/**
 * seek_range, seek_halves(at, end, length, depth, first, second, open): the first place in [at, end) where the shape of
 * at least `length` and at most `depth` characters may stand, or -1. `open` is 0 where all of them are ASCII.
 */
function seek(kind: Test): Routine {
  const [at, end, length, depth, first, second, open] = [0, 1, 2, 3, 4, 5, 6];
  const [last, candidates, start, position, forms, byte, reached] = [7, 8, 9, 10, 11, 12, 13];
  const [lowerHalf, zero, bytes, foreign] = [14, 15, 16, 17];
  const tables = [18, 19, 20, 21] as const;
  const test = (which: number, one: number, other: number, offset: number): Code => {
    const loaded = load16(add(get(at), get(which)), offset);
    if (kind === "range") {
      return [
        ...set(bytes, subtract16(loaded, get(one))),
        ...equal16(lesser16(get(bytes), get(other)), get(bytes)),
      ];
    }
    return [
      ...set(bytes, loaded),
      ...and16(
        swizzle(get(one), and16(get(bytes), get(lowerHalf))),
        swizzle(get(other), and16(shiftRight8(get(bytes), constant(4)), get(lowerHalf))),
      ),
    ];
  };
  const hits = (offset: number): Code =>
    and16(test(first, tables[0], tables[1], offset), test(second, tables[2], tables[3], offset));
  const foreigners = (offset: number): Code =>
    and16(or16(load16(get(at), offset), load16(add(get(at), get(length)), offset)), get(foreign));
  // A set with every byte past ASCII has U+FFFD in it: it may be shown for bytes that are no character.
  const everyByte = loadByte(shiftLeft(get(position), constant(8)), layout.shape + 0xff);
  const character = [
    ...when(and(get(forms), everyByte), answer(get(start))),
    ...next(reached, 1),
    ...when(isAtLeast(get(byte), constant(0xe0)), next(reached, 1)),
    ...when(isAtLeast(get(byte), constant(0xf0)), next(reached, 1)),
  ];
  const look = block(
    set(position, constant(0)),
    set(forms, constant(0xff)),
    set(reached, get(start)),
    loop(
      when(isEqual(get(position), get(depth)), answer(get(start))),
      set(byte, loadByte(get(reached))),
      set(
        forms,
        and(get(forms), loadByte(add(shiftLeft(get(position), constant(8)), get(byte)), layout.shape)),
      ),
      goIf(1, isZero(get(forms))),
      when(isAtLeast(get(byte), constant(0x80)), character),
      next(reached, 1),
      next(position, 1),
      go(0),
    ),
  );
  const body = [
    ...set(last, subtract(get(end), get(length))),
    ...set(lowerHalf, splat(constant(0x0f))),
    ...when(get(open), set(foreign, splat(constant(0x80)))),
    ...tables.flatMap((table, index) => set(table, load16(constant(layout.tests + 16 * index)))),
    ...block(
      loop(
        when(
          get(open),
          skip({ at, last }, (offset) => or16(hits(offset), foreigners(offset))),
        ),
        when(isZero(get(open)), skip({ at, last }, hits)),
        goIf(1, isGreater(get(at), get(last))),
        set(candidates, subtract(constant(0xffff), toBits(equal16(hits(0), get(zero))))),
        when(isAny(foreigners(0)), set(candidates, constant(0xffff))),
        inTurn({ at, last, candidates, start }, look),
        next(at, 16),
        go(0),
      ),
    ),
    ...constant(-1),
  ];
  return { name: `seek_${kind}`, parameters: 7, numbers: 7, vectors: 8, body };
}

export const routines = (): readonly Routine[] => [find(), count(), seek("range"), seek("halves")];
