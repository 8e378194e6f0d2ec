/**
 * The one loop that JavaScript has no fast way to write: finding an ASCII string whatever its case. It compares
 * sixteen places at once, in WebAssembly, so texts to be searched lie in its memory.
 */
import { compileModule, instantiate } from "../regex/webassembly.ts";

/** An ASCII string; places where the case of a letter does not matter have a fold of 0x20 and a byte that has this bit. */
export interface FoldedString {
  readonly bytes: Uint8Array;
  readonly folds: Uint8Array;
  /** Positions of the two rarest bytes: only where both stand is the rest looked at. */
  readonly rare: readonly [number, number];
}

export interface Kernel {
  /** The one buffer of texts, made at least `bytes` long. What is in it stays, but other views of it are dead. */
  readonly reserve: (bytes: number) => Buffer;
  /** Start of the first `string` in `text[from, to)`, or -1. The text is a buffer that `reserve` gave. */
  find(text: Buffer, string: FoldedString, from: number, to: number): number;
}

/** Longest string that can be looked for. */
export const longestFolded = 1024;

const pageBytes = 65_536;
/** The first page is for the string (bytes, then folds), the others are for texts. */
const textStart = pageBytes;
/** What is loaded behind the end of a text, and not looked at. */
const overread = longestFolded + 16;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  find(at: number, end: number, length: number, first: number, second: number): number;
}

/** A kernel, or undefined where the machine has no SIMD in WebAssembly. */
export function openKernel(): Kernel | undefined {
  try {
    return new SimdKernel(instantiate(compileModule(Uint8Array.from(program())), {}) as Exports);
  } catch {
    return undefined;
  }
}

class SimdKernel implements Kernel {
  readonly #exports: Exports;
  #string: FoldedString | undefined;

  constructor(exports: Exports) {
    this.#exports = exports;
  }

  // A property, so that it can be handed on by itself.
  readonly reserve = (bytes: number): Buffer => {
    const { memory } = this.#exports;
    const missing = textStart + bytes + overread - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
    return Buffer.from(memory.buffer, textStart, bytes);
  };

  find(text: Buffer, string: FoldedString, from: number, to: number): number {
    const { memory, find } = this.#exports;
    if (text.buffer !== memory.buffer) throw new Error("the text is not in the memory of the kernel");
    if (this.#string !== string) {
      const page = new Uint8Array(memory.buffer, 0, textStart);
      page.set(string.bytes, 0);
      page.set(string.folds, longestFolded);
      this.#string = string;
    }
    const at = find(textStart + from, textStart + to, string.bytes.length, ...string.rare);
    return at < 0 ? -1 : at - textStart;
  }
}

const i32 = 0x7f;
const v128 = 0x7b;
const empty = 0x40;

/** Locals of the function: its parameters first. */
const at = 0;
const end = 1;
const length = 2;
const first = 3;
const second = 4;
const last = 5;
const candidates = 6;
const start = 7;
const position = 8;
const firstByte = 9;
const firstFold = 10;
const secondByte = 11;
const secondFold = 12;

/** Numbers of this format (LEB128). None here needs a third byte. */
const number = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
/** A constant has a sign: its highest bit. */
const constant = (value: number): number[] => [0x41, value & 0x7f];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const simd = (operation: number, ...rest: number[]): number[] => [0xfd, operation, ...rest];
const add = 0x6a;
const subtract = 0x6b;
const and = 0x71;
const or = 0x72;
const isGreater = 0x4a;
const isEqual = 0x46;
const isUnequal = 0x47;
const isZero = 0x45;
const trailingZeros = 0x68;
const block = [0x02, empty];
const loop = [0x03, empty];
const when = [0x04, empty];
const close = 0x0b;
const again = (depth: number): number[] => [0x0c, depth];
const leaveIf = (depth: number): number[] => [0x0d, depth];
const answer = 0x0f;
const loadByte = (offset: number): number[] => [0x2d, 0, ...number(offset)];
const load16 = simd(0x00, 0, 0);
const splat = simd(0x0f);
const equal16 = simd(0x23);
const and16 = simd(0x4e);
const or16 = simd(0x50);
const toBits = simd(0x64);

/** Sixteen copies of the string's byte, and of its fold, at the position in the local `which`. */
const spread = (which: number, byte: number, fold: number): number[] => [
  ...[...get(which), ...loadByte(0), ...splat, ...set(byte)],
  ...[...get(which), ...loadByte(longestFolded), ...splat, ...set(fold)],
];

/** Which of the sixteen places from `at` on have this byte at their position `which`. */
const compare = (which: number, byte: number, fold: number): number[] => [
  ...[...get(at), ...get(which), add, ...load16],
  ...[...get(fold), ...or16, ...get(byte), ...equal16],
];

/** find(at, end, length, first, second): the first place in [at, end) where the string stands, or -1. */
const find = (): number[] => [
  ...[...get(end), ...get(length), subtract, ...set(last)],
  ...spread(first, firstByte, firstFold),
  ...spread(second, secondByte, secondFold),
  ...block,
  ...loop,
  ...[...get(at), ...get(last), isGreater, ...leaveIf(1)],
  ...[...compare(first, firstByte, firstFold), ...compare(second, secondByte, secondFold)],
  ...[...and16, ...toBits, ...set(candidates)],
  ...candidatesInTurn(),
  ...[...get(at), ...constant(16), add, ...set(at), ...again(0)],
  ...[close, close, ...constant(-1)],
];

/** Looks at the whole string at each candidate place, and answers with the first where it stands. */
function candidatesInTurn(): number[] {
  return [
    ...block,
    ...loop,
    ...[...get(candidates), isZero, ...leaveIf(1)],
    ...[...get(at), ...get(candidates), trailingZeros, add, ...set(start)],
    ...[...get(start), ...get(last), isGreater, ...leaveIf(1)],
    ...[...constant(0), ...set(position)],
    ...block,
    ...loop,
    ...[...get(position), ...get(length), isEqual, ...when, ...get(start), answer, close],
    ...[
      ...get(start),
      ...get(position),
      add,
      ...loadByte(0),
      ...get(position),
      ...loadByte(longestFolded),
      or,
    ],
    ...[...get(position), ...loadByte(0), isUnequal, ...leaveIf(1)],
    ...[...get(position), ...constant(1), add, ...set(position), ...again(0)],
    ...[close, close],
    ...[
      ...get(candidates),
      ...get(candidates),
      ...constant(1),
      subtract,
      and,
      ...set(candidates),
      ...again(0),
    ],
    ...[close, close],
  ];
}

/** The module, section by section (WebAssembly core specification, section 5). */
function program(): number[] {
  const section = (id: number, content: number[]) => [id, ...number(content.length), ...content];
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const body = [2, ...[4, i32], ...[4, v128], ...find(), close];
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 1, i32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 2]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("find"), 0, 0]),
    ...section(10, [1, ...number(body.length), ...body]),
  ];
}
