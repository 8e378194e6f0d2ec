/**
 * WebAssembly put together by hand (core coder §5): instructions as bytes, operands before operators.
 * Only what the kernels need.
 */
import { renderSigned, renderUnsigned } from "./binary.ts";

/** Instructions, or an expression: what it computes is left for the one that takes it. */
export type Code = readonly number[];

export const i32 = 0x7f;
const v128 = 0x7b;

export const constant = (value: number): Code => [0x41, ...renderSigned(value)];
export const localGet = (local: number): Code => [0x20, ...renderUnsigned(local)];
export const localSet = (local: number, value: Code): Code => [...value, 0x21, ...renderUnsigned(local)];

const simd = (operation: number): Code => [0xfd, ...renderUnsigned(operation)];
const operator =
  (code: Code) =>
  (...operands: readonly Code[]): Code => [...operands.flat(), ...code];

export const add = operator([0x6a]);
export const subtract = operator([0x6b]);
export const multiply = operator([0x6c]);
export const and = operator([0x71]);
export const or = operator([0x72]);
export const shiftLeft = operator([0x74]);
export const isZero = operator([0x45]);
export const isEqual = operator([0x46]);
export const isUnequal = operator([0x47]);
export const isLess = operator([0x48]);
export const isGreater = operator([0x4a]);
export const isAtLeast = operator([0x4e]);
export const leadingZeros = operator([0x67]);
export const trailingZeros = operator([0x68]);
export const countOnes = operator([0x69]);

/** The byte at the address plus `offset`. */
export const loadByte = (address: Code, offset = 0): Code => [...address, 0x2d, 0, ...renderUnsigned(offset)];
/** The number of two bytes at the address plus `offset`. */
export const loadPair = (address: Code, offset = 0): Code => [...address, 0x2f, 0, ...renderUnsigned(offset)];
/** Writes a number of four bytes. */
export const store = (address: Code, value: Code, offset = 0): Code => [
  ...[...address, ...value],
  ...[0x36, 0, ...renderUnsigned(offset)],
];
/** The sixteen bytes from the address plus `offset` on. */
export const load16 = (address: Code, offset = 0): Code => [
  ...address,
  ...simd(0x00),
  0,
  ...renderUnsigned(offset),
];
/** These sixteen bytes. */
export const sixteen = (bytes: readonly number[]): Code => [...simd(0x0c), ...bytes];
/** Sixteen copies of a number's lowest byte. */
export const splat = operator(simd(0x0f));
export const equal16 = operator(simd(0x23));
/** The lesser of each two bytes. */
export const lesser16 = operator(simd(0x77));
export const and16 = operator(simd(0x4e));
export const or16 = operator(simd(0x50));
/** The bits of the first operand that the second one has not. */
export const andNot16 = operator(simd(0x4f));
export const add16 = operator(simd(0x6e));
export const subtract16 = operator(simd(0x71));
/** Bytes as numbers from 0 to 255. */
export const less16 = operator(simd(0x26));
/** The sums of each two bytes that are side by side, and of each two of such sums: four numbers. */
const pairs16 = operator(simd(0x7d));
const pairs8 = operator(simd(0x7f));
export const foursOf16 = (bytes: Code): Code => pairs8(pairs16(bytes));
/** One of four numbers. */
export const oneOf4 = (numbers: Code, index: number): Code => [...numbers, ...simd(0x1b), index];
/** The bytes of the first operand at the places that the second one tells; 0 for places past 15. */
export const swizzle = operator(simd(0x0e));
/** Eight pairs of bytes, each shifted to the right. */
export const shiftRight8 = operator(simd(0x8d));
/** Whether any bit is set. */
export const anyTrue = operator(simd(0x53));
/** One bit of each byte, the highest. */
export const bitmask = operator(simd(0x64));

const nothing = 0x40;
export const block = (...body: readonly Code[]): Code => [0x02, nothing, ...body.flat(), 0x0b];
export const loop = (...body: readonly Code[]): Code => [0x03, nothing, ...body.flat(), 0x0b];
export const if_ = (condition: Code, ...body: readonly Code[]): Code => [
  ...[...condition, 0x04, nothing],
  ...[...body.flat(), 0x0b],
];
/** Goes on at the start of the loop, or after the block, that is so many levels out; 0 is the innermost. */
export const br = (level: number): Code => [0x0c, level];
export const br_if = (level: number, condition: Code): Code => [...condition, 0x0d, level];
export const return_ = (value: Code): Code => [...value, 0x0f];

/** A function that takes numbers and answers one. Its locals are counted on from its parameters. */
export interface Routine {
  readonly name: string;
  readonly parameters: number;
  /** Further locals: first those that hold numbers, then those that hold sixteen bytes. */
  readonly numbers: number;
  readonly vectors: number;
  readonly body: Code;
}

/** A module with these functions, and with a memory of so many pages of 64 KiB, all exported. */
export function assemble(routines: readonly Routine[], pages: number): Uint8Array {
  const section = (id: number, content: Code) => [id, ...renderUnsigned(content.length), ...content];
  const list = (items: readonly Code[]) => [...renderUnsigned(items.length), ...items.flat()];
  const name = (text: string) => [...renderUnsigned(text.length), ...Buffer.from(text)];
  const type = ({ parameters }: Routine) => [0x60, ...list(Array(parameters).fill([i32])), 1, i32];
  const code = ({ numbers, vectors, body }: Routine) => {
    const whole = [2, ...renderUnsigned(numbers), i32, ...renderUnsigned(vectors), v128, ...body, 0x0b];
    return [...renderUnsigned(whole.length), ...whole];
  };
  const exported = routines.map((routine, index) => [...name(routine.name), 0, index]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(routines.map(type))),
    ...section(3, list(routines.map((_, index) => [index]))),
    ...section(5, [1, 0, ...renderUnsigned(pages)]),
    ...section(7, list([[...name("memory"), 2, 0], ...exported])),
    ...section(10, list(routines.map(code))),
  ]);
}
