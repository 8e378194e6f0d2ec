import { describe, expect, test } from "bun:test";
import { buildFilter } from "./seccomp.ts";
import { type Architecture, numberOf, refusedCalls } from "./syscalls.ts";

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const allowed = "allow";

interface Call {
  readonly number: number;
  readonly values?: readonly number[];
  readonly auditArchitecture?: number;
}

/** Runs classic BPF (Linux: Documentation/networking/filter.rst) over a `struct seccomp_data`. */
function run(program: Buffer, { number, values = [], auditArchitecture = 0 }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(auditArchitecture, 4);
  for (const [index, value] of values.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const code = program.readUInt16LE(8 * at);
    const k = program.readUInt32LE(8 * at + 4);
    const jump = (isTrue: boolean) => (at += program.readUInt8(8 * at + (isTrue ? 2 : 3)));
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) jump(accumulator === k);
    else if (code === 0x35) jump(accumulator >= k);
    else if (code === 0x06) return k === 0x7fff0000 ? allowed : `errno ${k & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
}

describe.each(["x64", "arm64"] as const)("on %s", (architecture: Architecture) => {
  const filters = {
    without: buildFilter({ architecture, network: "none" }),
    with: buildFilter({ architecture, network: "full" }),
  };
  const outcome = (network: keyof typeof filters, number: number, ...values: number[]) =>
    run(filters[network], { number, values, auditArchitecture: audit[architecture] });
  const number = (name: Parameters<typeof numberOf>[0]) => numberOf(name, architecture);

  test("a program is one that the kernel takes: it has less than 4096 instructions and ends", () => {
    expect(filters.without.length / 8).toBeLessThan(4096);
    expect(filters.without.subarray(-8).readUInt32LE(4)).toBe(0x7fff0000);
  });

  test.each([
    ["socket", [1, 1], "errno 13", "errno 13"],
    ["socket", [2, 1], "errno 13", allowed],
    ["socket", [10, 0x80802], "errno 13", allowed],
    ["socket", [2, 3], "errno 13", "errno 13"],
    ["socket", [2, 10], "errno 13", "errno 13"],
    ["socket", [16, 0x80003, 0], "errno 13", allowed],
    ["socket", [16, 3, 15], "errno 13", "errno 13"],
    ["socket", [17, 3], "errno 13", "errno 13"],
    ["socket", [40, 1], "errno 13", "errno 13"],
    ["socketpair", [1, 1], allowed, allowed],
    ["socketpair", [1, 0x80001], allowed, allowed],
    ["socketpair", [1, 5], allowed, allowed],
    ["socketpair", [1, 2], "errno 13", "errno 13"],
    ["socketpair", [1, 0x80802], "errno 13", "errno 13"],
    ["socketpair", [1, 3], "errno 13", "errno 13"],
    ["socketpair", [1, 0x80003], "errno 13", "errno 13"],
    ["socketpair", [30, 1], "errno 13", "errno 13"],
    ["setsid", [], "errno 0", "errno 0"],
    ["clone", [0x01200011], allowed, allowed],
    ["clone", [0x10000011], "errno 1", "errno 1"],
    ["clone", [0x003d0f00], allowed, allowed],
    ["clone3", [], "errno 38", "errno 38"],
    ["unshare", [0x400], allowed, allowed],
    ["unshare", [0x80], "errno 1", "errno 1"],
    ["unshare", [0x20000000], "errno 1", "errno 1"],
    // TCGETS and FICLONE; TIOCSTI, FS_IOC_SETFLAGS, BTRFS_IOC_SNAP_CREATE and XFS_IOC_SWAPEXT.
    ["ioctl", [0, 0x5401], allowed, allowed],
    ["ioctl", [0, 0x40049409], allowed, allowed],
    ["ioctl", [0, 0x5412], "errno 1", "errno 1"],
    ["ioctl", [0, 0x40086602], "errno 1", "errno 1"],
    ["ioctl", [0, 0x50009401], "errno 1", "errno 1"],
    ["ioctl", [0, 0xc0c0586d], "errno 1", "errno 1"],
    ["prlimit64", [0, 7], allowed, allowed],
    ["prlimit64", [1, 7], "errno 1", "errno 1"],
    ["sched_setaffinity", [0], allowed, allowed],
    ["sched_setaffinity", [1], "errno 1", "errno 1"],
    ["sched_setattr", [1], "errno 1", "errno 1"],
    ["sched_setparam", [1], "errno 1", "errno 1"],
    ["sched_setscheduler", [1], "errno 1", "errno 1"],
    ["setpriority", [0, 0, 5], allowed, allowed],
    ["setpriority", [0, 1, 5], "errno 1", "errno 1"],
    ["setpriority", [2, 0, 5], "errno 1", "errno 1"],
    ["ioprio_set", [1, 0], allowed, allowed],
    ["ioprio_set", [3, 0], "errno 1", "errno 1"],
    ["execve", [], allowed, allowed],
    ["write", [1], allowed, allowed],
  ] as const)("%s %j is %s, and with the network %s", (name, values, without, withNetwork) => {
    expect(outcome("without", number(name), ...values)).toBe(without);
    expect(outcome("with", number(name), ...values)).toBe(withNetwork);
  });

  test("what no command needs is refused, and nothing that it does", () => {
    const refused = refusedCalls(architecture);
    expect(refused.length).toBeGreaterThan(45);
    for (const call of refused) expect(outcome("with", call)).toBe("errno 1");
    const handled = new Set([
      ...refused,
      ...(["clone3", "setsid", "socket", "socketpair", "ioctl", "ioprio_set"] as const).map(number),
    ]);
    for (let call = 0; call < 470; call++) {
      if (!handled.has(call)) expect(outcome("with", call)).toBe(allowed);
    }
  });

  test("calls of another architecture do not exist", () => {
    const other = { number: number("execve"), auditArchitecture: 0x40000003 };
    expect(run(filters.with, other)).toBe("errno 38");
  });
});

test("calls of x32 do not exist", () => {
  const program = buildFilter({ architecture: "x64", network: "full" });
  expect(run(program, { number: 0x40000001, auditArchitecture: audit.x64 })).toBe("errno 38");
});
