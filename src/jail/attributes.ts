/**
 * Extended attributes (xattr(7)), among them the access control list. JavaScript runtimes do not offer them; Bun can
 * call libc on Linux. Elsewhere they cannot be seen.
 */
import { openErrno, openLibc } from "../bun.ts";

/** What a file has besides its content, its mode and its owner. */
export interface Attributes {
  /** Its access control list: `"none"` when it has none, `"unknown"` when the system does not say. */
  readonly list: Buffer | "none" | "unknown";
  /** Those that programs and people put there, and the label that SELinux goes by. */
  readonly others: readonly { readonly name: string; readonly value: Buffer }[];
}

const listName = "system.posix_acl_access";

/** Not the capabilities of a program: whoever may change a file must not decide what it may do. */
const isCarried = (name: string): boolean => name.startsWith("user.") || name === "security.selinux";

/**
 * What the opened file has; of one that could not be opened nothing is known. Undefined where attributes cannot be seen
 * at all. Never throws.
 */
export function readAttributes(descriptor: number | undefined): Attributes | undefined {
  const libc = load();
  if (libc === undefined) return undefined;
  if (descriptor === undefined) return { list: "unknown", others: [] };
  return { list: readList(libc, descriptor), others: readOthers(libc, descriptor) };
}

/** Gives an opened file this access control list. False when the system refuses. */
export function setList(descriptor: number, list: Buffer): boolean {
  return load()?.fsetxattr(descriptor, text(listName), list, list.length, 0) === 0;
}

/** Takes away the list that an opened file may have inherited from its folder. False when it still has one. */
export function removeList(descriptor: number): boolean {
  const libc = load();
  if (libc === undefined || readList(libc, descriptor) === "none") return true;
  return libc.fremovexattr(descriptor, text(listName)) === 0;
}

/** Gives an opened file the other attributes, as far as the system permits. */
export function setOthers(descriptor: number, { others }: Attributes): void {
  for (const { name, value } of others) load()?.fsetxattr(descriptor, text(name), value, value.length, 0);
}

/** The calls of section 2 of the manual; a negative result is a failure. */
interface Libc {
  fgetxattr(descriptor: number, name: Uint8Array, value: Uint8Array, size: number): number;
  fsetxattr(descriptor: number, name: Uint8Array, value: Uint8Array, size: number, flags: number): number;
  fremovexattr(descriptor: number, name: Uint8Array): number;
  flistxattr(descriptor: number, names: Uint8Array, size: number): number;
  errno(): number;
}

function readList(libc: Libc, descriptor: number): Attributes["list"] {
  const length = libc.fgetxattr(descriptor, text(listName), scratch(), mostBytes);
  if (length >= 0) return Buffer.from(scratch().subarray(0, length));
  return meansNone.has(libc.errno()) ? "none" : "unknown";
}

function readOthers(libc: Libc, descriptor: number): Attributes["others"] {
  const length = libc.flistxattr(descriptor, scratch(), mostBytes);
  if (length <= 0) return [];
  const names = scratch().toString("latin1", 0, length).split("\0").filter(isCarried);
  return names.flatMap((name) => {
    const bytes = libc.fgetxattr(descriptor, text(name), scratch(), mostBytes);
    return bytes < 0 ? [] : [{ name, value: Buffer.from(scratch().subarray(0, bytes)) }];
  });
}

/** ENODATA, and EOPNOTSUPP of a file system without such lists. */
const meansNone: ReadonlySet<number> = new Set([61, 95]);

/** The longest that a value and a list of names may be (linux/limits.h). */
const mostBytes = 65_536;
let buffer: Buffer | undefined;

function scratch(): Buffer {
  buffer ??= Buffer.allocUnsafeSlow(mostBytes);
  return buffer;
}

const text = (name: string): Buffer => Buffer.from(`${name}\0`, "latin1");

let loaded: Libc | "none" | undefined;

function load(): Libc | undefined {
  loaded ??= open() ?? "none";
  return loaded === "none" ? undefined : loaded;
}

function open(): Libc | undefined {
  const errno = openErrno();
  const calls = openLibc<Omit<Libc, "errno">>({
    fgetxattr: { args: ["i32", "ptr", "ptr", "u64"], returns: "i64_fast" },
    fsetxattr: { args: ["i32", "ptr", "ptr", "u64", "i32"], returns: "i32" },
    fremovexattr: { args: ["i32", "ptr"], returns: "i32" },
    flistxattr: { args: ["i32", "ptr", "u64"], returns: "i64_fast" },
  });
  return errno && calls && { ...calls, errno };
}
