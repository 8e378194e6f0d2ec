/** The filter of system calls (seccomp(2)) that commands run under, as a program of classic BPF. */
import { type Architecture, numberOf, refusedCalls } from "./syscalls.ts";

export interface CallPolicy {
  readonly architecture: Architecture;
  /** Whether sockets of the Internet may be made. */
  readonly network: boolean;
}

/** Constants of errno(3), which are those of both architectures. */
const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;

/** AUDIT_ARCH_*. */
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** Numbers from here on are calls of the x32 ABI. */
const x32 = 0x40000000;

/** AF_* and SOCK_* of socket(2). */
const networkFamilies = [2, 10, 16];
const datagram = 2;
const typeMask = 0xf;

/** TIOCSTI and TIOCLINUX, which type into a terminal (ioctl_tty(2)). */
const typingRequests = [0x5412, 0x541c];

/** CLONE_NEW* of clone(2); that of a time namespace is a signal there, and a flag for unshare(2) only. */
const namespaces = 0x7e020000;
const timeNamespace = 0x80;

/** Offsets in `struct seccomp_data`, and of the halves of its arguments. */
const numberAt = 0;
const architectureAt = 4;
const argument = (index: number) => 16 + 8 * index;

const load = (offset: number) => instruction(0x20, 0, 0, offset);
const and = (mask: number) => instruction(0x54, 0, 0, mask);
const answer = (errno: number) => instruction(0x06, 0, 0, 0x00050000 | errno);
const allow = instruction(0x06, 0, 0, 0x7fff0000);

/** `body` runs when the accumulator is `value`; otherwise it is skipped. */
const whenEqual = (value: number, ...body: Buffer[]) => [instruction(0x15, 0, body.length, value), ...body];
const unlessEqual = (value: number, ...body: Buffer[]) => [instruction(0x15, body.length, 0, value), ...body];
const whenAtLeast = (value: number, ...body: Buffer[]) => [instruction(0x35, 0, body.length, value), ...body];

/** A `struct sock_filter`. */
function instruction(code: number, whenTrue: number, whenFalse: number, k: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes[2] = whenTrue;
  bytes[3] = whenFalse;
  bytes.writeUInt32LE(k, 4);
  return bytes;
}

/**
 * The program. It lets everything through but what is refused in `syscalls.ts`, namespaces, sockets of other programs of this machine
 * (AF_UNIX), and without `network` every other socket. setsid(2) does nothing and succeeds: what stays in its session can be
 * ended with it. Calls of another architecture, and clone3(2), whose arguments no filter sees, are said not to exist.
 */
export function buildFilter({ architecture, network }: CallPolicy): Buffer {
  const number = (name: Parameters<typeof numberOf>[0]) => numberOf(name, architecture);
  return Buffer.concat([
    load(architectureAt),
    ...unlessEqual(auditArchitecture[architecture], answer(ENOSYS)),
    load(numberAt),
    ...(architecture === "x64" ? whenAtLeast(x32, answer(ENOSYS)) : []),
    ...refusedCalls(architecture).flatMap((call) => whenEqual(call, answer(EPERM))),
    ...whenEqual(number("clone3"), answer(ENOSYS)),
    ...whenEqual(number("setsid"), answer(0)),
    ...whenEqual(number("socket"), ...admitSockets(network)),
    ...whenEqual(
      number("socketpair"),
      load(argument(1)),
      and(typeMask),
      ...whenEqual(datagram, answer(EACCES)),
      allow,
    ),
    ...whenEqual(
      number("clone"),
      load(argument(0)),
      and(namespaces),
      ...unlessEqual(0, answer(EPERM)),
      allow,
    ),
    ...whenEqual(
      number("unshare"),
      load(argument(0)),
      and(namespaces | timeNamespace),
      ...unlessEqual(0, answer(EPERM)),
      allow,
    ),
    ...whenEqual(
      number("ioctl"),
      load(argument(1)),
      ...typingRequests.flatMap((request) => whenEqual(request, answer(EPERM))),
      allow,
    ),
    // The limits of other processes.
    ...whenEqual(number("prlimit64"), load(argument(0)), ...unlessEqual(0, answer(EPERM)), allow),
    allow,
  ]);
}

const admitSockets = (network: boolean): Buffer[] =>
  network
    ? [load(argument(0)), ...networkFamilies.flatMap((family) => whenEqual(family, allow)), answer(EACCES)]
    : [answer(EACCES)];
