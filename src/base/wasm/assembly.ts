/**
 * An assembler for WebAssembly (WebAssembly Core Specification, section 5). Instructions have their names in
 * the text format, with `_` for `.`; operands precede operators. It has only the instructions that the
 * kernels need; decision 22 gives the reasons for it.
 */
import { renderSigned, renderUnsigned } from "./binary.ts";

/** Instructions. An expression leaves its value for the instruction that takes it. */
export type Code = readonly number[];

const i32 = 0x7f;
const v128 = 0x7b;

const operator =
  (...opcode: readonly number[]) =>
  (...operands: readonly Code[]): Code => [...operands.flat(), ...opcode];

export const i32_const = (value: number): Code => [0x41, ...renderSigned(value)];
export const local_get = (local: number): Code => [0x20, ...renderUnsigned(local)];
export const local_set = (local: number, value: Code): Code => [...value, 0x21, ...renderUnsigned(local)];

export const i32_add = operator(0x6a);
export const i32_sub = operator(0x6b);
export const i32_mul = operator(0x6c);
export const i32_and = operator(0x71);
export const i32_or = operator(0x72);
export const i32_xor = operator(0x73);
export const i32_shl = operator(0x74);
export const i32_shr_u = operator(0x76);
export const i32_eqz = operator(0x45);
export const i32_eq = operator(0x46);
export const i32_ne = operator(0x47);
export const i32_lt_s = operator(0x48);
export const i32_lt_u = operator(0x49);
export const i32_gt_s = operator(0x4a);
export const i32_ge_s = operator(0x4e);
export const i32_clz = operator(0x67);
export const i32_ctz = operator(0x68);
export const i32_popcnt = operator(0x69);

/** Returns the immediates of a memory instruction: alignment 1, and an offset to add to the address. */
const memoryArgument = (offset: number): Code => [0, ...renderUnsigned(offset)];
const load =
  (...opcode: readonly number[]) =>
  (address: Code, offset = 0): Code => [...address, ...opcode, ...memoryArgument(offset)];

export const i32_load8_u = load(0x2d);
export const i32_load16_u = load(0x2f);
export const i32_store = (address: Code, value: Code, offset = 0): Code => [
  ...[...address, ...value],
  ...[0x36, ...memoryArgument(offset)],
];

export const i32_store8 = (address: Code, value: Code, offset = 0): Code => [
  ...[...address, ...value],
  ...[0x3a, ...memoryArgument(offset)],
];
export const i32_store16 = (address: Code, value: Code, offset = 0): Code => [
  ...[...address, ...value],
  ...[0x3b, ...memoryArgument(offset)],
];

/** The prefix of vector instructions. */
const simd = 0xfd;

export const v128_load = load(simd, 0x00);
export const v128_store = (address: Code, value: Code, offset = 0): Code => [
  ...[...address, ...value],
  ...[simd, 0x0b, ...memoryArgument(offset)],
];
export const v128_const = (bytes: readonly number[]): Code => [simd, 0x0c, ...bytes];
export const v128_and = operator(simd, 0x4e);
export const v128_or = operator(simd, 0x50);
export const v128_xor = operator(simd, 0x51);
export const v128_any_true = operator(simd, 0x53);
export const i8x16_swizzle = operator(simd, 0x0e);
export const i8x16_splat = operator(simd, 0x0f);
export const i8x16_eq = operator(simd, 0x23);
export const i8x16_lt_u = operator(simd, 0x26);
export const i8x16_bitmask = operator(simd, ...renderUnsigned(0x64));
export const i8x16_add = operator(simd, ...renderUnsigned(0x6e));
export const i8x16_sub = operator(simd, ...renderUnsigned(0x71));
export const i8x16_min_u = operator(simd, ...renderUnsigned(0x77));
export const i16x8_extadd_pairwise_i8x16_u = operator(simd, ...renderUnsigned(0x7d));
export const i16x8_shr_u = operator(simd, ...renderUnsigned(0x8d));
export const i32x4_extadd_pairwise_i16x8_u = operator(simd, ...renderUnsigned(0x7f));
export const i32x4_splat = operator(simd, 0x11);
export const i32x4_shr_u = operator(simd, ...renderUnsigned(0xad));
export const i32x4_add = operator(simd, ...renderUnsigned(0xae));
export const i32x4_mul = operator(simd, ...renderUnsigned(0xb5));
export const i32x4_extract_lane = (numbers: Code, lane: number): Code => [...numbers, simd, 0x1b, lane];

const emptyType = 0x40;
const end = 0x0b;
export const block = (...body: readonly Code[]): Code => [0x02, emptyType, ...body.flat(), end];
export const loop = (...body: readonly Code[]): Code => [0x03, emptyType, ...body.flat(), end];
export const if_ = (condition: Code, ...body: readonly Code[]): Code => [
  ...[...condition, 0x04, emptyType],
  ...[...body.flat(), end],
];
/**
 * Branches to the start of the loop, or past the end of the block, that is `label` labels out; 0 is the
 * innermost.
 */
export const br = (label: number): Code => [0x0c, label];
export const br_if = (label: number, condition: Code): Code => [...condition, 0x0d, label];
export const return_ = (value: Code): Code => [...value, 0x0f];

/**
 * A function with parameters of type i32 and one result of that type. The indices of locals follow those of
 * parameters.
 */
export interface Routine {
  readonly name: string;
  readonly parameters: number;
  /** The numbers of further locals: first those of type i32, then those of type v128. */
  readonly numbers: number;
  readonly vectors: number;
  readonly body: Code;
}

/**
 * Returns the binary of a module with these functions and a memory of `pages` pages of 64 KiB, all of which
 * it exports.
 */
export function assemble(routines: readonly Routine[], pages: number): Uint8Array {
  const section = (id: number, content: Code) => [id, ...renderUnsigned(content.length), ...content];
  const list = (items: readonly Code[]) => [...renderUnsigned(items.length), ...items.flat()];
  const name = (text: string) => [...renderUnsigned(text.length), ...Buffer.from(text)];
  const type = ({ parameters }: Routine) => [0x60, ...list(Array(parameters).fill([i32])), 1, i32];
  const code = ({ numbers, vectors, body }: Routine) => {
    const whole = [2, ...renderUnsigned(numbers), i32, ...renderUnsigned(vectors), v128, ...body, end];
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
