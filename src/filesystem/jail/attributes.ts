/**
 * Reads and writes extended attributes (xattr(7)), including the access control list. JavaScript runtimes do
 * not offer them; Bun can call libc on Linux. Elsewhere this reads none.
 */
import { openErrno, openLibc } from "../../base/bun.ts";

/** The attributes of a file besides its content, mode and owner. */
export interface Attributes {
  /** The access control list: `"none"` without one, `"unknown"` if the system does not show it. */
  readonly list: Buffer | "none" | "unknown";
  /** The attributes of users and programs, and the label of SELinux. */
  readonly others: readonly { readonly name: string; readonly value: Buffer }[];
}

const text = (name: string): Buffer => Buffer.from(`${name}\0`, "latin1");

const listName = text("system.posix_acl_access");

/**
 * Returns whether an edit keeps the attribute. It drops the capabilities of a program, because the right to
 * change a file does not include granting privileges.
 */
const isCarried = (name: string): boolean => name.startsWith("user.") || name === "security.selinux";

/**
 * Returns the attributes of an opened file, or unknown ones for a file that could not be opened. Returns
 * `undefined` if the runtime cannot read attributes. Never throws.
 */
export function readAttributes(descriptor: number | undefined): Attributes | undefined {
  const libc = load();
  if (libc === undefined) return undefined;
  if (descriptor === undefined) return { list: "unknown", others: [] };
  return { list: readList(libc, descriptor), others: readOthers(libc, descriptor) };
}

/** Sets the access control list of an opened file. Returns false if the system refuses. */
export function setList(descriptor: number, list: Buffer): boolean {
  return load()?.fsetxattr(descriptor, listName, list, list.length, 0) === 0;
}

/** Removes the list that an opened file may have inherited from its folder. Returns false if that fails. */
export function removeList(descriptor: number): boolean {
  const libc = load();
  if (libc === undefined || readList(libc, descriptor) === "none") return true;
  return libc.fremovexattr(descriptor, listName) === 0;
}

/** Sets the other attributes of an opened file that the system permits. */
export function setOthers(descriptor: number, { others }: Attributes): void {
  for (const { name, value } of others) load()?.fsetxattr(descriptor, text(name), value, value.length, 0);
}

/** The calls of section 2 of the manual. A negative result is a failure. */
interface Libc {
  fgetxattr(descriptor: number, name: Uint8Array, value: Uint8Array, size: number): number;
  fsetxattr(descriptor: number, name: Uint8Array, value: Uint8Array, size: number, flags: number): number;
  fremovexattr(descriptor: number, name: Uint8Array): number;
  flistxattr(descriptor: number, names: Uint8Array, size: number): number;
  errno(): number;
}

function readList(libc: Libc, descriptor: number): Attributes["list"] {
  const length = readValue(libc, descriptor, listName);
  if (length >= 0) return Buffer.from(scratch().subarray(0, length));
  return noListErrors.has(libc.errno()) ? "none" : "unknown";
}

function readOthers(libc: Libc, descriptor: number): Attributes["others"] {
  const length = fill(libc, (size) => libc.flistxattr(descriptor, scratch(), size));
  if (length <= 0) return [];
  const names = scratch().toString("latin1", 0, length).split("\0").filter(isCarried);
  return names.flatMap((name) => {
    const bytes = readValue(libc, descriptor, text(name));
    return bytes < 0 ? [] : [{ name, value: Buffer.from(scratch().subarray(0, bytes)) }];
  });
}

const readValue = (libc: Libc, descriptor: number, name: Uint8Array): number =>
  fill(libc, (size) => libc.fgetxattr(descriptor, name, scratch(), size));

/**
 * Makes a call that writes to `scratch`. Returns its result. The kernel first clears as many bytes as it may
 * write, so it may write only a few unless there are more.
 */
function fill({ errno }: Libc, call: (size: number) => number): number {
  const length = call(fewBytes);
  return length < 0 && errno() === ERANGE ? call(maxBytes) : length;
}

/** Enough for nearly all values and lists of names. */
const fewBytes = 1024;

/** asm-generic/errno-base.h */
const ERANGE = 34;

/** ENODATA, and EOPNOTSUPP from a file system without lists. */
const noListErrors: ReadonlySet<number> = new Set([61, 95]);

/** Maximum bytes of a value, and of a list of names (linux/limits.h). */
const maxBytes = 65_536;
let buffer: Buffer | undefined;

function scratch(): Buffer {
  buffer ??= Buffer.allocUnsafeSlow(maxBytes);
  return buffer;
}

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
