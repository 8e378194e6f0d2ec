/**
 * The code of the launcher, which makes the system calls of a table one after another. An entry has eight
 * words: the number, six arguments, and the action on failure (`modes`). If a call fails that must not, the
 * code writes its mode and the negative errno to a descriptor, and exits with status 127.
 */
import { type Architecture, numberOf } from "./syscalls.ts";

/**
 * `optional`: continues if it fails. `required`: exits. `execute`: exits, and also gets the argument vector
 * and the environment.
 */
export const modes = { optional: 0, required: 1, execute: 2 } as const;

/** The bytes of an entry of the table. */
export const entryBytes = 64;

/** The exit status of a launcher that has given up. */
export const failureStatus = 127;

/** The addresses and descriptors that the code uses. */
export interface Placement {
  /** The address of the table of system calls. */
  readonly table: number;
  readonly statusDescriptor: number;
}

/** ELF's `e_machine`, and the code, for each architecture. */
export const machines: Readonly<
  Record<Architecture, { readonly elfMachine: number; code(placement: Placement): Buffer }>
> = {
  x64: { elfMachine: 62, code: x64Code },
  arm64: { elfMachine: 183, code: arm64Code },
};

const word = (value: number) => [
  value & 0xff,
  (value >> 8) & 0xff,
  (value >> 16) & 0xff,
  (value >>> 24) & 0xff,
];

/** Intel's manual, volume 2. rbx is the entry, r13 the argument vector, r14 the environment. */
function x64Code({ table, statusDescriptor }: Placement): Buffer {
  const next = [
    ...[0x48, 0x83, 0xc3, entryBytes], // add rbx, 64
  ];
  const step = [
    ...[0x48, 0x8b, 0x03], // mov rax, [rbx]
    ...[0x48, 0x8b, 0x7b, 8], // mov rdi, [rbx+8]
    ...[0x48, 0x8b, 0x73, 16], // mov rsi, [rbx+16]
    ...[0x48, 0x8b, 0x53, 24], // mov rdx, [rbx+24]
    ...[0x4c, 0x8b, 0x53, 32], // mov r10, [rbx+32]
    ...[0x4c, 0x8b, 0x43, 40], // mov r8, [rbx+40]
    ...[0x4c, 0x8b, 0x4b, 48], // mov r9, [rbx+48]
    ...[0x48, 0x83, 0x7b, 56, modes.execute], // cmp qword [rbx+56], execute
    ...[0x75, 6], // jne +6
    ...[0x4c, 0x89, 0xee], // mov rsi, r13
    ...[0x4c, 0x89, 0xf2], // mov rdx, r14
    ...[0x0f, 0x05], // syscall
    ...[0x48, 0x3d, ...word(-4095)], // cmp rax, -4095
    ...[0x73, next.length + 2], // jae failed
  ];
  const failed = [
    ...[0x48, 0x83, 0x7b, 56, modes.optional], // cmp qword [rbx+56], optional
    ...[0x74, -(5 + 2 + 2 + next.length) & 0xff], // je next
    ...[0x50], // push rax
    ...[0xff, 0x73, 56], // push qword [rbx+56]
    ...[0xbf, ...word(statusDescriptor)], // mov edi, statusDescriptor
    ...[0x48, 0x89, 0xe6], // mov rsi, rsp
    ...[0xba, ...word(16)], // mov edx, 16
    ...[0xb8, ...word(numberOf("write", "x64"))], // mov eax, write
    ...[0x0f, 0x05], // syscall
    ...[0xbf, ...word(failureStatus)], // mov edi, 127
    ...[0xb8, ...word(numberOf("exit_group", "x64"))], // mov eax, exit_group
    ...[0x0f, 0x05], // syscall
  ];
  return Buffer.from([
    ...[0xbb, ...word(table)], // mov ebx, table
    ...[0x4c, 0x8b, 0x24, 0x24], // mov r12, [rsp]
    ...[0x4c, 0x8d, 0x6c, 0x24, 8], // lea r13, [rsp+8]
    ...[0x4e, 0x8d, 0x74, 0xe4, 16], // lea r14, [rsp+r12*8+16]
    ...step,
    ...next,
    ...[0xeb, -(step.length + next.length + 2) & 0xff], // jmp step
    ...failed,
  ]);
}

/** Arm's manual, chapter C6. x19 is the entry, x20 the argument vector, x21 the environment. */
function arm64Code({ table, statusDescriptor }: Placement): Buffer {
  const load = (register: number, offset: number) => 0xf9400000 | ((offset / 8) << 10) | (19 << 5) | register;
  const move = (register: number, value: number) => 0xd2800000 | (value << 5) | register;
  const moveHigh = (register: number, value: number) => 0xf2a00000 | (value << 5) | register;
  const copy = (to: number, from: number) => 0xaa0003e0 | (from << 16) | to;
  const call = 0xd4000001;
  const next = [
    0x91000000 | (entryBytes << 10) | (19 << 5) | 19, // add x19, x19, #64
  ];
  const step = [
    load(8, 0), // ldr x8, [x19]
    ...[0, 1, 2, 3, 4, 5].map((register) => load(register, 8 + 8 * register)), // ldr x0, [x19, #8] …
    load(9, 56), // ldr x9, [x19, #56]
    0xf1000000 | (modes.execute << 10) | (9 << 5) | 31, // cmp x9, execute
    0x54000000 | (3 << 5) | 1, // b.ne +3
    copy(1, 20), // mov x1, x20
    copy(2, 21), // mov x2, x21
    call, // svc #0
    0xb1000000 | (4095 << 10) | 31, // cmn x0, #4095
    0x54000000 | ((next.length + 2) << 5) | 2, // b.hs failed
  ];
  const failed = [
    0xb4000000 | ((-(next.length + 1) & 0x7ffff) << 5) | 9, // cbz x9, next
    0xa9800000 | (0x7e << 15) | (31 << 5) | 9, // stp x9, x0, [sp, #-16]!
    move(0, statusDescriptor),
    0x91000000 | (31 << 5) | 1, // mov x1, sp
    move(2, 16),
    move(8, numberOf("write", "arm64")),
    call,
    move(0, failureStatus),
    move(8, numberOf("exit_group", "arm64")),
    call,
  ];
  const instructions = [
    move(19, table & 0xffff),
    moveHigh(19, table >>> 16),
    0xf9400000 | (31 << 5) | 9, // ldr x9, [sp]
    0x91000000 | (8 << 10) | (31 << 5) | 20, // add x20, sp, #8
    0x8b000000 | (9 << 16) | (3 << 10) | (20 << 5) | 21, // add x21, x20, x9, lsl #3
    0x91000000 | (8 << 10) | (21 << 5) | 21, // add x21, x21, #8
    ...step,
    ...next,
    0x14000000 | (-(step.length + next.length) & 0x3ffffff), // b step
    ...failed,
  ];
  return Buffer.from(instructions.flatMap(word));
}
