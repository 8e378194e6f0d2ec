/**
 * The numbers of system calls (syscalls(2)) on x64 and arm64; `undefined` if an architecture lacks the call.
 */

export type Architecture = "x64" | "arm64";

type Numbers = readonly [x64: number, arm64: number | undefined];

/** The calls that the launcher makes, and those whose arguments a filter checks. */
const named = {
  chdir: [80, 49],
  clone: [56, 220],
  clone3: [435, 435],
  close: [3, 57],
  close_range: [436, 436],
  execve: [59, 221],
  exit_group: [231, 94],
  fcntl: [72, 25],
  getcwd: [79, 17],
  ioctl: [16, 29],
  ioprio_set: [251, 30],
  landlock_restrict_self: [446, 446],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_tree: [428, 428],
  openat: [257, 56],
  prctl: [157, 167],
  prlimit64: [302, 261],
  read: [0, 63],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  seccomp: [317, 277],
  setns: [308, 268],
  setpriority: [141, 140],
  setsid: [112, 157],
  socket: [41, 198],
  socketpair: [53, 199],
  unshare: [272, 97],
  write: [1, 64],
} as const satisfies Readonly<Record<string, Numbers>>;

/**
 * The calls that no command needs: memory of other processes, modules and images of the kernel, mounts and
 * namespaces, keys, the clock and the name of the machine, file attributes that Landlock has no rule for, and
 * interfaces that bypass a filter (io_uring) or are mostly known for their vulnerabilities.
 */
const refused = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  file_setattr: [469, 469],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  modify_ldt: [154, undefined],
  mount: named.mount,
  mount_setattr: named.mount_setattr,
  move_mount: named.move_mount,
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: named.open_tree,
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: named.setns,
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
} as const satisfies Readonly<Record<string, Numbers>>;

const columnOf = { x64: 0, arm64: 1 } as const;

/** Returns the number of a call that both architectures have. */
export const numberOf = (name: keyof typeof named, architecture: Architecture): number =>
  named[name][columnOf[architecture]];

/** Returns the numbers of all calls that are refused regardless of their arguments. */
export const refusedCalls = (architecture: Architecture): number[] =>
  Object.values<Numbers>(refused).flatMap((numbers) => numbers[columnOf[architecture]] ?? []);
