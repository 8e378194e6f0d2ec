import { statfsSync } from "node:fs";
import { errnoError } from "./errno.ts";

/**
 * Types of file systems whose "files" are knobs and streams of the kernel: a read may never return, a write
 * changes the machine (linux/magic.h). Normal mounts, such as a container's volume, stay usable.
 */
const pseudoTypes: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x0027e0eb, // cgroup
  0x63677270, // cgroup2
  0xcafe4a11, // bpf
  0x1cd1, // devpts
  0xf97cff8c, // selinuxfs
  0xde5e81e4, // efivarfs
  0x62656570, // configfs
  0x42494e4d, // binfmt_misc
  0x19800202, // mqueue
  0x6165676c, // pstore
  0x65735543, // fusectl
  0x6e736673, // nsfs
  0x67596969, // rpc_pipefs
]);

const procfs = 0x9fa0;

/** Returns whether the type is that of a pseudo file system. */
export const isPseudoType = (type: number): boolean => pseudoTypes.has(type);

/** Returns whether `path` lies on a pseudo file system. */
export const isPseudo = (path: string | Buffer): boolean => isPseudoType(fileSystemType(path));

/**
 * Returns the type of the file system at `path`, or 0 on systems other than Linux, whose types mean something
 * else.
 */
export const fileSystemType = (path: string | Buffer): number =>
  process.platform === "linux" ? typeOf(path) : 0;

/**
 * Returns the type of the file system of a descriptor, if its device is not that of the base. A pseudo one,
 * which is always on another device, throws ENODEV.
 */
export function typeElsewhere(descriptor: number, device: number, baseDevice: number): number | undefined {
  if (device === baseDevice) return undefined;
  const type = fileSystemType(`/proc/self/fd/${descriptor}`);
  if (isPseudoType(type)) throw errnoError("ENODEV");
  return type;
}

/** The offsets that file systems use for the end of a folder. */
const endOffsets: ReadonlyMap<number, bigint> = new Map([
  [0xef53, 0x7fffffffffffffffn], // ext4 with dir_index
  [0x9123683e, 0x7fffffffn], // btrfs
  [0x01021994, 0x7fffffffn], // tmpfs of newer kernels
]);

/**
 * Returns the offset in the last record of getdents64(2) which says, on a file system of this type, that no
 * entry comes after it, or `undefined` if none is known. A call may end before that although it has room for
 * more, for example when the thread has a signal to handle.
 */
export const endOffsetOn = (type: number): bigint | undefined => endOffsets.get(type);

/** Returns whether `path` lies on a real procfs. */
export const isProcfs = (path: string): boolean => process.platform === "linux" && typeOf(path) === procfs;

/** Returns the type as 32 unsigned bits: the kernel's `long` is negative for some types if it has 32 bits. */
const typeOf = (path: string | Buffer): number => statfsSync(path).type >>> 0;
