/**
 * Builds the launcher, a program of a few hundred bytes that confines itself and then becomes the command.
 */
import { type ControlGroup, joinCalls } from "./control-groups.ts";
import { entryBytes, machines, modes } from "./machine-code.ts";
import { folderBytes, type MountPlan, mountCalls, type RequiredCall } from "./mounts.ts";
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
 * Returns an ELF executable (elf(5)) that makes these system calls in turn. If one fails, it writes 16 bytes
 * to `statusDescriptor`: its mode and the negative errno. Otherwise that descriptor is closed when the
 * command runs. Its argument vector and environment are those of the command.
 */
export const buildLauncher = (confinement: Confinement): Buffer =>
  buildImage(confinement.architecture, (place) => listCalls(confinement, place));

/**
 * Returns an executable that makes these calls in turn, and reports the first failure like a launcher. The
 * last call has to end it.
 */
export const buildProgram = (architecture: Architecture, calls: readonly RequiredCall[]): Buffer =>
  buildImage(architecture, (place) => calls.map((call) => requiredEntry(call, architecture, place)));

/** Puts the data that a call points to into the image, and returns its address. */
type PlaceData = (bytes: Buffer) => number;

function buildImage(architecture: Architecture, list: (place: PlaceData) => Buffer[]): Buffer {
  const { elfMachine, code } = machines[architecture];
  const data: Buffer[] = [];
  let end = headerBytes + align(code({ table: base, statusDescriptor }).length);
  const table = list((bytes) => {
    const address = base + end;
    data.push(padded(bytes));
    end += align(bytes.length);
    return address;
  });
  const body = padded(code({ table: base + end, statusDescriptor }));
  const image = Buffer.concat([Buffer.alloc(headerBytes), body, ...data, ...table]);
  writeHeader(image, elfMachine);
  return image;
}

/** Returns the entries of the table. */
function listCalls(confinement: Confinement, place: PlaceData): Buffer[] {
  const { architecture, file, limits, hasRuleset, filter, mounts, namespaces = [], group } = confinement;
  const text = (value: string) => place(Buffer.from(`${value}\0`));
  const require = (call: RequiredCall) => requiredEntry(call, architecture, place);
  const call = (name: Parameters<typeof numberOf>[0], mode: Mode, ...values: number[]) =>
    entry(numberOf(name, architecture), mode, values);
  const processes = firstInherited + namespaces.length;
  const free = processes + (mounts?.hidesProcesses ? 1 : 0);
  return [
    call("prctl", modes.optional, setDeathSignal, kill),
    call("fcntl", modes.required, statusDescriptor, setDescriptorFlags, closeOnExec),
    call("fcntl", modes.optional, rulesetDescriptor, setDescriptorFlags, closeOnExec),
    call("close_range", modes.optional, free, 0xffffffff),
    // When memory runs out, the kernel first kills the process with the highest score
    // (proc_pid_oom_score_adj(5)): a command, never the worker.
    call("openat", modes.optional, 0, text("/proc/self/oom_score_adj"), writeOnly),
    call("write", modes.optional, free, text("1000"), 4),
    call("close", modes.optional, free),
    ...(group === undefined ? [] : joinCalls(group.processes, free).map(require)),
    // A limit cannot be set above the one in force, which then stays. A user namespace counts processes
    // against the limit of its creator.
    ...limits.map(({ resource, most }) =>
      call("prlimit64", modes.optional, 0, resource, place(rlimit(most))),
    ),
    ...namespaces.map((kind, index) => require(["setns", firstInherited + index, namespaceKinds[kind]])),
    ...(mounts ? mountCalls(mounts, { processes, free, folder: writablePage }).map(require) : []),
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
    ...(filter ? [call("seccomp", modes.required, setFilter, 0, place(filterProgram(filter, place)))] : []),
    file === undefined ? call("exit_group", modes.required, 0) : call("execve", modes.execute, text(file)),
  ];
}

function requiredEntry(
  [name, ...values]: RequiredCall,
  architecture: Architecture,
  place: PlaceData,
): Buffer {
  const numbers = values.map((value) => {
    if (typeof value === "number") return value;
    return place(typeof value === "string" ? Buffer.from(`${value}\0`) : value);
  });
  return entry(numberOf(name, architecture), modes.required, numbers);
}

const align = (bytes: number) => Math.ceil(bytes / 8) * 8;

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(align(bytes.length) - bytes.length)]);

function entry(number: number, mode: number, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(entryBytes);
  for (const [index, value] of [number, ...values].entries())
    bytes.writeBigUInt64LE(BigInt(value), 8 * index);
  bytes.writeBigUInt64LE(BigInt(mode), entryBytes - 8);
  return bytes;
}

/** Returns a `struct rlimit`, with equal soft and hard limits. */
function rlimit(most: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(most), 0);
  bytes.writeBigUInt64LE(BigInt(most), 8);
  return bytes;
}

/** Returns a `struct sock_fprog` that points to the filter. */
function filterProgram(filter: Buffer, place: (bytes: Buffer) => number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(filter.length / 8, 0);
  bytes.writeBigUInt64LE(BigInt(place(filter)), 8);
  return bytes;
}

/** Writes the header of the file and those of its two segments. */
function writeHeader(image: Buffer, elfMachine: number): void {
  image.write("\x7fELF\x02\x01\x01", 0, "latin1");
  image.writeUInt16LE(2, 16);
  image.writeUInt16LE(elfMachine, 18);
  image.writeUInt32LE(1, 20);
  image.writeBigUInt64LE(BigInt(base + headerBytes), 24);
  image.writeBigUInt64LE(64n, 32);
  image.writeUInt16LE(64, 52);
  image.writeUInt16LE(56, 54);
  image.writeUInt16LE(2, 56);
  writeSegment(image, 64, { flags: 5, address: base, bytes: image.length });
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
