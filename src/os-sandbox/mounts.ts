/** The system calls by which the launcher gets mounts of its own (mount_namespaces(7), user_namespaces(7)). */
import type { Cover } from "./covers.ts";
import type { numberOf } from "./syscalls.ts";

/** A user as the kernel knows it. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user that the worker runs as. */
export const currentUser = (): User => ({ uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 });

export interface MountPlan {
  readonly covers: readonly Cover[];
  /** The user of the worker. Root needs no user namespace to mount. */
  readonly user: User;
}

/** A call that must succeed: its name, and its arguments. Texts and structures are pointers to them. */
export type RequiredCall = readonly [
  name: Parameters<typeof numberOf>[0],
  ...values: (number | string | Buffer)[],
];

/** Constants of unshare(2), openat(2) and mount(2). */
const newMounts = 0x00020000;
const newUser = 0x10000000;
const writeOnly = 1;
const bind = 0x1000;
const recursive = 0x4000;
const slave = 0x80000;

/** MS_* and MOUNT_ATTR_* of a mount that is read-only, and without set-user-ID, devices and programs: the same bits. */
const inert = 0xf;

/**
 * The calls, for a process with no descriptor from `free` on. `folder` is the address of `folderBytes` that can be written. A program
 * that has made them has lost what they need, once it has executed another one: root by its bounding set, others by execve(2).
 */
export const mountCalls = (
  { covers, user }: MountPlan,
  { free, folder }: { readonly free: number; readonly folder: number },
): RequiredCall[] => [
  ...(user.uid === 0 ? ([["unshare", newMounts]] as const) : enterUserNamespace(user, free)),
  // What is mounted here must not be seen outside.
  ["mount", 0, "/", 0, recursive | slave, 0],
  ...covers.flatMap(coverCalls),
  // The working folder is that of the mounts there were before, below which nothing is hidden.
  ["getcwd", folder, folderBytes],
  ["chdir", folder],
];

/** The longest path (PATH_MAX). */
export const folderBytes = 4096;

/** Only this user and its group are there. Without setgroups(2), no group that denies something can be left. */
const enterUserNamespace = ({ uid, gid }: User, free: number): RequiredCall[] => [
  ["unshare", newUser | newMounts],
  ...Object.entries({ setgroups: "deny", uid_map: `${uid} ${uid} 1`, gid_map: `${gid} ${gid} 1` }).flatMap(
    ([name, text]): RequiredCall[] => [
      ["openat", 0, `/proc/self/${name}`, writeOnly],
      ["write", free, text, text.length],
      ["close", free],
    ],
  ),
];

/** On a mount without devices no process opens a device, not even one of root. */
function coverCalls({ path, kind }: Cover): RequiredCall[] {
  if (kind === "pinned") return [["mount", path, path, 0, bind | recursive, 0]];
  if (kind === "folder") return [["mount", "tmpfs", path, "tmpfs", inert, "size=4k,nr_inodes=1,mode=0"]];
  return [
    ["mount", "/dev/null", path, 0, bind, 0],
    ["mount_setattr", 0, path, 0, mountAttributes(inert), 32],
  ];
}

/** A `struct mount_attr` that sets attributes. */
function mountAttributes(set: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeBigUInt64LE(BigInt(set), 0);
  return bytes;
}
