/** System calls of Linux that neither JavaScript nor the C library offers by name. */
import { accessSync, closeSync, constants } from "node:fs";
import { openErrno, openLibc } from "../../base/bun.ts";
import { requireNoShortage, ShortageError } from "../../base/shortage.ts";

/** The numbers of landlock(7), which are the same on every architecture. */
const createRuleset = 444;
const addRule = 445;
const createVersion = 1;

const pathBeneath = 1;
const getSeccomp = 21;
const closeOnExec = 1;
/** O_CLOEXEC of open(2), which node:fs does not name. */
const closePipeOnExec = 0o2000000;
/**
 * MFD_EXEC of memfd_create(2), since Linux 6.3, for systems where such files are not executable by default.
 */
const executable = 0x10;

/** F_DUPFD_CLOEXEC of fcntl(2). */
const duplicate = 1030;

/** The minimum descriptor of a file in memory. Lower ones are those passed to a program. */
const minDescriptor = 16;

export interface Kernel {
  /** The version of Landlock's interface, or 0 without Landlock. */
  readonly landlockAbi: number;
  readonly hasSeccomp: boolean;
  /** Whether the system can run a file in memory. */
  readonly canRunFiles: boolean;
  /**
   * Makes a pipe whose ends block. Programs inherit only the ends that are passed to them. Throws a
   * `ShortageError` if descriptors run out.
   */
  makePipe(): { readonly readEnd: number; readonly writeEnd: number } | undefined;
  /**
   * Creates a file in memory (memfd_create(2)). Throws a `ShortageError` if descriptors or memory run out.
   */
  createFile(name: string): number | undefined;
  /**
   * Creates a ruleset of Landlock from a `struct landlock_ruleset_attr`, and returns its descriptor. Throws
   * if the kernel makes none.
   */
  createRuleset(attributes: Uint8Array): number;
  /**
   * Grants access to the entry that is open as `descriptor`, and everything below it. Returns whether the
   * kernel accepted the rule.
   */
  grant(ruleset: number, access: bigint, descriptor: number): boolean;
}

interface Calls {
  syscall(number: number, attributes: Uint8Array | null, size: number, flags: number): number;
  memfd_create(name: Uint8Array, flags: number): number;
  pipe2(ends: Int32Array, flags: number): number;
  fcntl(descriptor: number, command: number, least: number): number;
  prctl(option: number, second: number, third: number, fourth: number, fifth: number): number;
}

interface RuleCalls {
  syscall(number: number, ruleset: number, type: number, attributes: Uint8Array, flags: number): number;
}

/**
 * Returns these calls, or `undefined` on Node, on systems other than Linux, and if the system forbids code
 * made at run time. Throws a `ShortageError` if too little is left to find out what the kernel supports.
 */
export function openKernel(): Kernel | undefined {
  const calls = openLibc<Calls>({
    syscall: { args: ["i64", "ptr", "u64", "u64"], returns: "i64" },
    fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    pipe2: { args: ["ptr", "i32"], returns: "i32" },
    memfd_create: { args: ["ptr", "u32"], returns: "i32" },
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  });
  const rules = openLibc<RuleCalls>({
    syscall: { args: ["i64", "i64", "i64", "ptr", "u64"], returns: "i64" },
  });
  const errno = openErrno();
  if (calls === undefined || rules === undefined) return undefined;
  const createFile = (name: string): number | undefined => {
    const text = Buffer.from(`${name}\0`);
    const file = calls.memfd_create(text, closeOnExec | executable);
    const descriptor = file >= 0 ? file : calls.memfd_create(text, closeOnExec);
    if (descriptor < 0) {
      requireNoShortage(errno?.());
      return undefined;
    }
    const apart = calls.fcntl(descriptor, duplicate, minDescriptor);
    closeSync(descriptor);
    // EINVAL too means that the limit of descriptors is too low.
    if (apart < 0) throw new ShortageError("EMFILE");
    return apart;
  };
  return {
    landlockAbi: Math.max(0, Number(calls.syscall(createRuleset, null, 0, createVersion))),
    hasSeccomp: calls.prctl(getSeccomp, 0, 0, 0, 0) >= 0,
    canRunFiles: canRun(createFile("probe")),
    makePipe() {
      const ends = new Int32Array(2);
      if (calls.pipe2(ends, closePipeOnExec) < 0) {
        requireNoShortage(errno?.());
        return undefined;
      }
      return { readEnd: ends[0]!, writeEnd: ends[1]! };
    },
    createFile,
    createRuleset(attributes) {
      const ruleset = Number(calls.syscall(createRuleset, attributes, attributes.length, 0));
      if (ruleset < 0) {
        const reason = errno?.();
        requireNoShortage(reason);
        throw new Error(`Landlock makes no ruleset (error ${reason})`);
      }
      return ruleset;
    },
    grant(ruleset, access, descriptor) {
      // struct landlock_path_beneath_attr, which is packed.
      const attributes = Buffer.alloc(12);
      attributes.writeBigUInt64LE(access, 0);
      attributes.writeInt32LE(descriptor, 8);
      return Number(rules.syscall(addRule, ruleset, pathBeneath, attributes, 0)) >= 0;
    },
  };
}

function canRun(descriptor: number | undefined): boolean {
  if (descriptor === undefined) return false;
  try {
    accessSync(`/proc/self/fd/${descriptor}`, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(descriptor);
  }
}
