/** The system calls that give the launcher mounts of its own (mount_namespaces(7), user_namespaces(7)). */
import type { Cover } from "./covers.ts";
import type { EncodedCalls, RequiredCall } from "./encoded-calls.ts";

/** The ids of a user. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the user that the worker runs as. */
export const currentUser = (): User => ({ uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 });

export interface MountPlan {
  /** The mounts over entries of folders, if any, encoded by `encodeCovers`. */
  readonly covers: EncodedCalls | undefined;
  /** Whether the mount of `makeProcMount` becomes its /proc. */
  readonly hidesProcesses: boolean;
  /** The user of the worker. Root needs no user namespace to mount. */
  readonly user: User;
}

/** Constants of unshare(2), openat(2) and mount(2). */
const newMounts = 0x00020000;
const newUser = 0x10000000;
const writeOnly = 1;
const bind = 0x1000;
const move = 0x2000;
const recursive = 0x4000;
const slave = 0x80000;

/** Constants of open_tree(2) and move_mount(2). */
const clone = 1;
const emptyPath = 0x1000;
const fromEmptyPath = 4;
const currentFolder = 0xffffff9c;

/** AT_RECURSIVE of mount_setattr(2), and MOUNT_ATTR_RDONLY. */
const recursively = 0x8000;
const readOnly = 1;

/**
 * MS_* and MOUNT_ATTR_* of a mount that is read-only, and without set-user-ID, devices and programs: the same
 * bits.
 */
const inert = 0xf;

/**
 * Returns the calls before those of `coverCalls`, for a process without descriptors from `free` on, with the
 * mount of /proc as its descriptor `processes`. After a program that made them has executed another, it can
 * no longer make them: root because of its bounding set, others because of execve(2).
 */
export const mountCalls = (
  { hidesProcesses, user }: MountPlan,
  { processes, free }: { readonly processes: number; readonly free: number },
): RequiredCall[] => [
  // An unattached mount must be cloned in the namespace that it was made in.
  ...(hidesProcesses ? ([["open_tree", processes, "", clone | emptyPath]] as const) : []),
  ...(user.uid === 0
    ? ([["unshare", newMounts]] as const)
    : enterUserNamespace(user, { free, also: newMounts })),
  // Mounts made here must not propagate outside.
  ["mount", 0, "/", 0, recursive | slave, 0],
  ...(hidesProcesses
    ? ([
        ["move_mount", free, "", currentFolder, "/proc", fromEmptyPath],
        ["close", free],
      ] as const)
    : []),
];

/**
 * Returns the calls after those of `coverCalls`. The working folder belongs to the earlier mounts, where
 * nothing below it is hidden. `folder` is the address of `folderBytes` writable bytes.
 */
export const reenterCalls = (folder: number): RequiredCall[] => [
  ["getcwd", folder, folderBytes],
  ["chdir", folder],
];

/** Maximum bytes of a path, with its NUL (PATH_MAX). */
export const folderBytes = 4096;

interface NewNamespaces {
  /** The number of the next free descriptor. */
  readonly free: number;
  /** Further namespaces to make, as flags of unshare(2). */
  readonly also: number;
}

/**
 * Returns the calls that enter a user namespace with this user and group only. Without setgroups(2), the
 * process cannot drop a group that a file denies access to.
 */
export const enterUserNamespace = ({ uid, gid }: User, { free, also }: NewNamespaces): RequiredCall[] => [
  ["unshare", newUser | also],
  ...Object.entries({ setgroups: "deny", uid_map: `${uid} ${uid} 1`, gid_map: `${gid} ${gid} 1` }).flatMap(
    ([name, text]): RequiredCall[] => [
      ["openat", 0, `/proc/self/${name}`, writeOnly],
      ["write", free, text, text.length],
      ["close", free],
    ],
  ),
];

/** Returns the calls of one mount, which are the same in each launcher. */
export function coverCalls(cover: Cover): RequiredCall[] {
  const { path } = cover;
  if (cover.kind === "pinned") return [["mount", path, path, 0, bind | recursive, 0]];
  if (cover.kind === "kept")
    return [
      ["mount", path, path, 0, bind | recursive, 0],
      ["mount_setattr", 0, path, recursively, readOnlyAttributes, 32],
    ];
  if (cover.kind === "stashed") return [["mount", path, cover.stash, 0, bind | recursive, 0]];
  if (cover.kind === "restored") return [["mount", cover.stash, path, 0, move, 0]];
  if (cover.kind === "folder")
    return [["mount", "tmpfs", path, "tmpfs", inert, "size=4k,nr_inodes=1,mode=0"]];
  return [
    ["mount", cover.mask, path, 0, bind, 0],
    ["mount_setattr", 0, path, 0, inertAttributes, 32],
  ];
}

/** Returns a `struct mount_attr` that sets attributes. */
function mountAttributes(set: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeBigUInt64LE(BigInt(set), 0);
  return bytes;
}

const readOnlyAttributes = mountAttributes(readOnly);
const inertAttributes = mountAttributes(inert);
