/** The filter of system calls (seccomp(2)) that commands run under, as a program of classic BPF. */
import { allowedRequests } from "./requests.ts";
import type { Network } from "./ruleset.ts";
import { type Architecture, numberOf, refusedCalls } from "./syscalls.ts";

export interface CallPolicy {
  readonly architecture: Architecture;
  /** The network, which decides whether sockets of the Internet may be made. */
  readonly network: Network;
}

/** Constants of errno(3), which are those of both architectures. */
const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;

/** AUDIT_ARCH_*. */
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** The first number of the calls of the x32 ABI. */
const x32 = 0x40000000;

/** The address families (AF_*) of socket(2). */
const unix = 1;
const internet = [2, 10];
const netlink = 16;

/** SOCK_*. The kernel takes SOCK_RAW for SOCK_DGRAM in AF_UNIX, and old types for families of their own. */
const stream = 1;
const datagram = 2;
const raw = 3;
const packets = 5;
const typeMask = 0xf;

/** NETLINK_ROUTE, which lists addresses (getifaddrs(3)). */
const routes = 0;

/** IOPRIO_WHO_PROCESS of ioprio_set(2). */
const ioProcess = 1;

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

/** Returns code that runs `body` only if the accumulator is `value`. */
const whenEqual = (value: number, ...body: Buffer[]) => [instruction(0x15, 0, body.length, value), ...body];
const unlessEqual = (value: number, ...body: Buffer[]) => [instruction(0x15, body.length, 0, value), ...body];
const whenAtLeast = (value: number, ...body: Buffer[]) => [instruction(0x35, 0, body.length, value), ...body];

/** Returns a `struct sock_filter`, which is one instruction. */
function instruction(code: number, whenTrue: number, whenFalse: number, k: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes[2] = whenTrue;
  bytes[3] = whenFalse;
  bytes.writeUInt32LE(k, 4);
  return bytes;
}

/**
 * Returns the program. It allows all system calls except those refused in `syscalls.ts`, requests of ioctl(2)
 * that `requests.ts` does not list, namespaces, the scheduling of other processes, sockets of other programs
 * on this machine (AF_UNIX), and, without a network, all other sockets. setsid(2) succeeds without effect, so
 * that every process stays in its session and can be ended with it. Calls of another architecture, and
 * clone3(2), whose arguments no filter can read, fail as unknown calls.
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
    // A datagram socket of a pair could send to the sockets of other programs.
    ...whenEqual(
      number("socketpair"),
      load(argument(0)),
      ...unlessEqual(unix, answer(EACCES)),
      ...admitTypes(stream, packets),
      answer(EACCES),
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
      ...allowedRequests.flatMap((request) => whenEqual(request, allow)),
      answer(EPERM),
    ),
    // Limits and scheduling of other processes: 0 is the calling one.
    ...onItself.flatMap((name) =>
      whenEqual(number(name), load(argument(0)), ...unlessEqual(0, answer(EPERM)), allow),
    ),
    ...whenEqual(number("setpriority"), ...requireArguments(0, 0)),
    ...whenEqual(number("ioprio_set"), ...requireArguments(ioProcess, 0)),
    allow,
  ]);
}

/** The calls whose first argument names a process. */
const onItself = [
  "prlimit64",
  "sched_setaffinity",
  "sched_setattr",
  "sched_setparam",
  "sched_setscheduler",
] as const;

const requireArguments = (first: number, second: number): Buffer[] => [
  load(argument(0)),
  ...unlessEqual(first, answer(EPERM)),
  load(argument(1)),
  ...unlessEqual(second, answer(EPERM)),
  allow,
];

/** Returns code that allows these types of sockets, and continues for others. */
const admitTypes = (...types: number[]): Buffer[] => [
  load(argument(1)),
  and(typeMask),
  ...types.flatMap((type) => whenEqual(type, allow)),
];

const admitSockets = (network: Network): Buffer[] =>
  network !== "none"
    ? [
        load(argument(0)),
        ...internet.flatMap((family) => whenEqual(family, ...admitTypes(stream, datagram), answer(EACCES))),
        ...unlessEqual(netlink, answer(EACCES)),
        load(argument(2)),
        ...unlessEqual(routes, answer(EACCES)),
        ...admitTypes(datagram, raw),
        answer(EACCES),
      ]
    : [answer(EACCES)];
