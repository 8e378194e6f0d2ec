/**
 * Builds the launcher, a program of a few hundred bytes that confines itself and then becomes the command.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type ControlGroup, joinCalls } from "./control-groups.ts";
import type { Cover } from "./covers.ts";
import {
  type EncodedCalls,
  encodeInSteps,
  entry,
  PlacedData,
  padded,
  type RequiredCall,
  requiredEntry,
} from "./encoded-calls.ts";
import { machines, modes } from "./machine-code.ts";
import { coverCalls, folderBytes, type MountPlan, mountCalls, reenterCalls } from "./mounts.ts";
import { type Architecture, numberOf } from "./syscalls.ts";

/** A resource of getrlimit(2), by its number, and its limit. */
export interface ResourceLimit {
  readonly resource: number;
  readonly most: number;
}

export interface Confinement {
  readonly architecture: Architecture;
  /** The absolute path of the program to become. If `undefined`, the launcher exits with status 0. */
  readonly file: string | undefined;
  readonly limits: readonly ResourceLimit[];
  /** Whether the descriptor `rulesetDescriptor` is a ruleset of Landlock. */
  readonly hasRuleset: boolean;
  /** A program of BPF, or `undefined` if the kernel has no seccomp. */
  readonly filter: Buffer | undefined;
  /** The mounts that it makes for itself. If `undefined`, it has the mounts of the worker. */
  readonly mounts?: MountPlan | undefined;
  /** The namespaces that it enters. They are its descriptors from `firstInherited` on. */
  readonly namespaces?: readonly NamespaceKind[] | undefined;
  /** The control group that it enters. */
  readonly group?: Pick<ControlGroup, "processes"> | undefined;
}

/** The descriptors that the launcher expects in addition to the three streams. It closes all of them. */
export const rulesetDescriptor = 3;
export const statusDescriptor = 4;
/** The first descriptor of a namespace. The last is followed by that of a /proc to mount. */
export const firstInherited = 5;

/** A namespace to enter, by CLONE_NEW* of setns(2). */
export const namespaceKinds = { user: 0x10000000, network: 0x40000000 } as const;
export type NamespaceKind = keyof typeof namespaceKinds;

/** The address at which the image is loaded, in the lower 2 GiB, which programs leave free. */
const base = 0x10000000;
/** The address of a page that it may write: a second, private mapping of the beginning of the file. */
export const writablePage = 0x20000000;
const headerBytes = 176;

/** Constants of openat(2), fcntl(2), prctl(2), seccomp(2) and signal(7). */
const writeOnly = 1;
const setDescriptorFlags = 2;
const closeOnExec = 1;
const setDeathSignal = 1;
const kill = 9;
const setNoNewPrivileges = 38;
const setFilter = 1;

const dropFromBoundingSet = 24;

/**
 * CAP_CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE
 * and SETFCAP: what root needs for files, users and ports. Others undo the rules of the kernel, as
 * CAP_PERFMON does for /proc/PID/environ.
 */
const keptCapabilities: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 31]);
const droppedCapabilities = Array.from({ length: 64 }, (_, capability) => capability).filter(
  (capability) => !keptCapabilities.has(capability),
);

type Mode = (typeof modes)[keyof typeof modes];

/**
 * Returns the parts of an ELF executable (elf(5)) that makes these system calls in turn. If one fails, it
 * writes 16 bytes to `statusDescriptor`: its mode and the negative errno. Otherwise that descriptor is closed
 * when the command runs. Its argument vector and environment are those of the command.
 */
export const buildLauncher = (confinement: Confinement): Buffer[] =>
  buildImage(
    confinement.architecture,
    (data) => listCalls(confinement, data),
    confinement.mounts?.covers ?? { data: [], table: [] },
  );

/**
 * Returns the parts of an executable that makes these calls in turn, and reports the first failure like a
 * launcher. The last call has to end it.
 */
export const buildProgram = (architecture: Architecture, calls: readonly RequiredCall[]): Buffer[] =>
  buildImage(
    architecture,
    (data) => ({ before: calls.map((call) => requiredEntry(call, architecture, data)), after: [] }),
    { data: [], table: [] },
  );

/** Encodes mounts in steps, for all launchers of this architecture. */
export const encodeCovers = (covers: readonly Cover[], architecture: Architecture): Steps<EncodedCalls> =>
  encodeInSteps(callsOf(covers), { architecture, address: base + headerBytes + codeOf(architecture).length });

function* callsOf(covers: readonly Cover[]): Generator<readonly RequiredCall[], void, void> {
  for (const cover of covers) yield coverCalls(cover);
}

/** Returns the code, whose length does not depend on the address of the table. */
const codeOf = (architecture: Architecture, table = base): Buffer =>
  padded(machines[architecture].code({ table, statusDescriptor }));

/** The entries of a table before and after those that launchers share. */
interface OwnEntries {
  readonly before: readonly Buffer[];
  readonly after: readonly Buffer[];
}

/** Shared data comes first, so its addresses are the same in each image. */
function buildImage(
  architecture: Architecture,
  list: (data: PlacedData) => OwnEntries,
  shared: EncodedCalls,
): Buffer[] {
  const data = new PlacedData(base + headerBytes + codeOf(architecture).length + bytesOf(shared.data));
  const { before, after } = list(data);
  const start = Buffer.concat([Buffer.alloc(headerBytes), codeOf(architecture, data.end)]);
  const own = Buffer.concat([...data.parts, ...before]);
  const parts = [start, ...shared.data, own, ...shared.table, Buffer.concat(after)];
  writeHeader(start, machines[architecture].elfMachine, bytesOf(parts));
  return parts;
}

const bytesOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** Returns the entries of the table around those of the mounts. */
function listCalls(confinement: Confinement, data: PlacedData): OwnEntries {
  const { architecture, file, limits, hasRuleset, filter, mounts, namespaces = [], group } = confinement;
  const require = (call: RequiredCall) => requiredEntry(call, architecture, data);
  const call = (name: Parameters<typeof numberOf>[0], mode: Mode, ...values: number[]) =>
    entry(numberOf(name, architecture), mode, values);
  const processes = firstInherited + namespaces.length;
  const free = processes + (mounts?.hidesProcesses ? 1 : 0);
  const before = [
    call("prctl", modes.optional, setDeathSignal, kill),
    call("fcntl", modes.required, statusDescriptor, setDescriptorFlags, closeOnExec),
    call("fcntl", modes.optional, rulesetDescriptor, setDescriptorFlags, closeOnExec),
    call("close_range", modes.optional, free, 0xffffffff),
    // When memory runs out, the kernel first kills the process with the highest score
    // (proc_pid_oom_score_adj(5)): a command, never the worker.
    call("openat", modes.optional, 0, data.place("/proc/self/oom_score_adj"), writeOnly),
    call("write", modes.optional, free, data.place("1000"), 4),
    call("close", modes.optional, free),
    ...(group === undefined ? [] : joinCalls(group.processes, free).map(require)),
    // A limit cannot be set above the one in force, which then stays. A user namespace counts processes
    // against the limit of its creator.
    ...limits.map(({ resource, most }) =>
      call("prlimit64", modes.optional, 0, resource, data.place(rlimit(most))),
    ),
    ...namespaces.map((kind, index) => require(["setns", firstInherited + index, namespaceKinds[kind]])),
    ...(mounts ? mountCalls(mounts, { processes, free }).map(require) : []),
  ];
  const after = [
    ...(mounts?.covers ? reenterCalls(writablePage).map(require) : []),
    ...Array.from({ length: free - firstInherited }, (_, index) =>
      require(["close", firstInherited + index]),
    ),
    // A program of root keeps only the capabilities in this set (capabilities(7)), which a user namespace
    // fills; other users have none.
    ...droppedCapabilities.map((capability) =>
      call("prctl", modes.optional, dropFromBoundingSet, capability),
    ),
    call("prctl", modes.required, setNoNewPrivileges, 1),
    ...(hasRuleset ? [call("landlock_restrict_self", modes.required, rulesetDescriptor)] : []),
    ...(filter
      ? [call("seccomp", modes.required, setFilter, 0, data.place(filterProgram(filter, data)))]
      : []),
    file === undefined
      ? call("exit_group", modes.required, 0)
      : call("execve", modes.execute, data.place(file)),
  ];
  return { before, after };
}

/** Returns a `struct rlimit`, with equal soft and hard limits. */
function rlimit(most: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(most), 0);
  bytes.writeBigUInt64LE(BigInt(most), 8);
  return bytes;
}

/** Returns a `struct sock_fprog` that points to the filter. */
function filterProgram(filter: Buffer, data: PlacedData): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(filter.length / 8, 0);
  bytes.writeBigUInt64LE(BigInt(data.place(filter)), 8);
  return bytes;
}

/** Writes the header of a file of `bytes` bytes, and those of its two segments. */
function writeHeader(image: Buffer, elfMachine: number, bytes: number): void {
  image.write("\x7fELF\x02\x01\x01", 0, "latin1");
  image.writeUInt16LE(2, 16);
  image.writeUInt16LE(elfMachine, 18);
  image.writeUInt32LE(1, 20);
  image.writeBigUInt64LE(BigInt(base + headerBytes), 24);
  image.writeBigUInt64LE(64n, 32);
  image.writeUInt16LE(64, 52);
  image.writeUInt16LE(56, 54);
  image.writeUInt16LE(2, 56);
  writeSegment(image, 64, { flags: 5, address: base, bytes });
  writeSegment(image, 120, { flags: 6, address: writablePage, bytes: folderBytes });
}

interface Segment {
  /** PF_*: 1 to execute, 2 to write, 4 to read. */
  readonly flags: number;
  readonly address: number;
  readonly bytes: number;
}

/** Writes the header of a segment that maps the beginning of the file. */
function writeSegment(image: Buffer, at: number, { flags, address, bytes }: Segment): void {
  image.writeUInt32LE(1, at);
  image.writeUInt32LE(flags, at + 4);
  image.writeBigUInt64LE(BigInt(address), at + 16);
  image.writeBigUInt64LE(BigInt(address), at + 24);
  image.writeBigUInt64LE(BigInt(bytes), at + 32);
  image.writeBigUInt64LE(BigInt(bytes), at + 40);
  image.writeBigUInt64LE(0x10000n, at + 48);
}
