/** The configuration keys of the kernel's rules for commands. */
import { type TSchema, Type } from "@sinclair/typebox";

const gibibyte = 1024 ** 3;

const Limit = (byDefault: number, maximum: number, description: string) =>
  Type.Integer({ minimum: 0, maximum, default: byDefault, description: `${description} 0 is no limit.` });

const limits = {
  cpu_seconds: Limit(
    3600,
    365 * 24 * 3600,
    "Seconds of processor time that one process of a command may use.",
  ),
  memory_bytes: Limit(16 * gibibyte, 2 ** 50, "Bytes of memory that one process may write (RLIMIT_DATA)."),
  file_bytes: Limit(8 * gibibyte, 2 ** 50, "Bytes of a file that a command writes."),
  open_files: Limit(4096, 1_048_576, "Files that one process may hold open, at least 16."),
  processes: Limit(
    1024,
    1_000_000,
    "Processes and threads of a command where the worker runs as root, by a control group; elsewhere those that its user may have besides those there are when the command starts (RLIMIT_NPROC).",
  ),
  disk_bytes: Limit(
    32 * gibibyte,
    2 ** 50,
    "Bytes by which what is free on a file system that a command may write may shrink while it runs, by whatever program. It never leaves less than a tenth of what was free.",
  ),
  disk_files: Limit(
    2_000_000,
    2 ** 40,
    "The same for the files and folders (inodes) that there is room for, where the file system counts them.",
  ),
};

export const osSandboxKeys = {
  os_sandbox: Type.Union([Type.Null(), Type.Literal("off"), Type.Literal("best"), Type.Literal("required")], {
    default: null,
    description:
      "Whether the rules of the kernel confine commands: they write only below fs.host_root, writable_folders and a temporary folder of their own ($TMPDIR), read nothing of fs.denylist_paths, and signal and inspect no other programs. best applies as many rules as the kernel can, and the log says which; with required the worker does not start if one is missing; null is best in the profile agent and off in contract.",
  }),
  network: Type.Union(
    [Type.Null(), Type.Boolean(), Type.Literal("none"), Type.Literal("loopback"), Type.Literal("full")],
    {
      default: null,
      description:
        "The network of commands that os_sandbox confines. With loopback they listen and connect on 127.0.0.1 and ::1, where they reach one another and nothing else; on systems without network namespaces this means none. true is full, false is none; null is loopback in the profile agent and none in contract. Sockets of other programs of this machine (AF_UNIX) stay out of reach.",
    },
  ),
  writable_folders: Type.Array(Type.String(), {
    default: [],
    description:
      "Absolute paths of folders besides fs.host_root that confined commands may write, such as the cache of a package manager.",
  }),
  limits: Type.Object(limits, {
    description: "Limits of confined commands.",
    default: Object.fromEntries(
      Object.entries(limits).map(([name, key]: [string, TSchema]) => [name, key.default]),
    ),
  }),
};
