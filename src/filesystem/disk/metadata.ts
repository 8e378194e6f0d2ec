import { type BigIntStats, fchmodSync, fchownSync, fstatSync } from "node:fs";
import { listWithin, modeWithout, type Terms } from "../jail/acl.ts";
import { type Attributes, removeList, setList, setOthers } from "../jail/attributes.ts";

/** The user and the group of an entry. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner and the permissions of a new file. */
export interface Metadata {
  /** The permission bits it gets, whatever the umask. */
  readonly mode: number;
  /** The owner, if this process may give the file away; otherwise this process owns it. */
  readonly owner?: Owner | undefined;
  /** The attributes of the file it replaces; `undefined` if it has none, or if they cannot be read. */
  readonly attributes?: Attributes | undefined;
}

/**
 * Sets owner, attributes and mode of an opened file, whose stats are `ours` and which no other user may open
 * yet. Anything that the system refuses costs rights and never adds any: the group's bits are reduced to
 * those of all others if the group changes, and to those of the access control list if that cannot be kept.
 * Set-id bits need the user and group of `owner`, since the program would get the rights of any others.
 */
export function applyMetadata(descriptor: number, ours: BigIntStats, metadata: Metadata): void {
  const { mode, owner, attributes } = metadata;
  // This must happen while the file is ours and writable.
  if (attributes !== undefined) setOthers(descriptor, attributes);
  const isOfOtherGroup = owner !== undefined && !isGivenAway(descriptor, ours, owner);
  const permitted = (mode & 0o6000) === 0 || isOwnedBy(descriptor, owner) ? mode : mode & ~0o6000;
  fchmodSync(descriptor, applyList(descriptor, attributes?.list, { mode: permitted, isOfOtherGroup }));
}

function isOwnedBy(descriptor: number, owner: Owner | undefined): boolean {
  const { uid, gid } = fstatSync(descriptor);
  return owner !== undefined && uid === owner.uid && gid === owner.gid;
}

/** Applies the access control list. Returns the mode that the file should have besides it. */
function applyList(descriptor: number, list: Attributes["list"] | undefined, terms: Terms): number {
  const { mode, isOfOtherGroup } = terms;
  if (list instanceof Buffer && setList(descriptor, listWithin(list, terms))) return mode;
  const isWithout = list === undefined || removeList(descriptor);
  if (list instanceof Buffer) return cut(modeWithout(list, terms), !isWithout);
  return cut(mode, isOfOtherGroup || list === "unknown" || !isWithout);
}

/** Returns the mode, reducing the group to the rights of all others if `isNeeded`. */
const cut = (mode: number, isNeeded: boolean): number =>
  isNeeded ? mode & (0o707 | ((mode & 0o007) << 3)) : mode;

/** Gives the file to its owner if the system permits it. Returns false if its group stays different. */
function isGivenAway(descriptor: number, ours: BigIntStats, { uid, gid }: Owner): boolean {
  const now = { uid: Number(ours.uid), gid: Number(ours.gid) };
  const isSettled = (now.uid === uid && now.gid === gid) || mayChown(descriptor, uid, gid);
  return isSettled || now.gid === gid || mayChown(descriptor, now.uid, gid);
}

function mayChown(descriptor: number, uid: number, gid: number): boolean {
  try {
    fchownSync(descriptor, uid, gid);
    return true;
  } catch {
    return false;
  }
}
