/**
 * POSIX access control lists as Linux presents them in an extended attribute (acl(5), the kernel's
 * uapi/linux/posix_acl_xattr.h): a version, then eight bytes per entry, little-endian. If a file has a list,
 * the group's bits of its mode are the list's mask, which bounds all entries except those of the owner and of
 * others.
 */

const versionBytes = 4;
const entryBytes = 8;

const tags = { owner: 0x01, user: 0x02, owningGroup: 0x04, group: 0x08, mask: 0x10, others: 0x20 } as const;

/** The bounds of a new list or mode. */
export interface Terms {
  /** The permission bits that the file should have. */
  readonly mode: number;
  /** Whether the file now belongs to another group, which gets only the rights of all others. */
  readonly isOfOtherGroup: boolean;
}

/** Returns the list for a file of this mode. Named users and groups keep their entries. */
export function listWithin(list: Buffer, { mode, isOfOtherGroup }: Terms): Buffer {
  const adapted = Buffer.from(list);
  const others = mode & 0o7;
  for (const { tag, permissions, at } of entriesOf(list)) {
    if (tag === tags.owner) put(adapted, at, (mode >> 6) & 0o7);
    else if (tag === tags.mask) put(adapted, at, (mode >> 3) & 0o7);
    else if (tag === tags.others) put(adapted, at, others);
    else if (tag === tags.owningGroup && isOfOtherGroup) put(adapted, at, permissions & others);
  }
  return adapted;
}

/**
 * Returns the mode that replaces the list if it cannot be set. It grants additional rights to no user: a
 * named user or group with fewer rights than the owning group, or than all others, now counts among these, so
 * these lose the difference.
 */
export function modeWithout(list: Buffer, { mode, isOfOtherGroup }: Terms): number {
  let named = 0o7;
  let owningGroup = 0;
  for (const { tag, permissions } of entriesOf(list)) {
    if (tag === tags.user || tag === tags.group) named &= permissions;
    else if (tag === tags.owningGroup) owningGroup = permissions;
  }
  const others = mode & 0o7 & named;
  const group = (mode >> 3) & owningGroup & named & (isOfOtherGroup ? mode : 0o7);
  return (mode & 0o700) | (group << 3) | others;
}

interface ListEntry {
  readonly tag: number;
  /** The three permission bits, as in a mode. */
  readonly permissions: number;
  /** The offset of the entry. */
  readonly at: number;
}

function* entriesOf(list: Buffer): Generator<ListEntry> {
  for (let at = versionBytes; at + entryBytes <= list.length; at += entryBytes)
    yield { tag: list.readUInt16LE(at), permissions: list.readUInt16LE(at + 2), at };
}

const put = (list: Buffer, at: number, permissions: number): number =>
  list.writeUInt16LE(permissions, at + 2);
