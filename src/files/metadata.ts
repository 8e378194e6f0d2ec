import { type BigIntStats, fchmodSync, fchownSync } from "node:fs";
import { listWithin, modeWithout, type Terms } from "../jail/acl.ts";
import { type Attributes, removeList, setList, setOthers } from "../jail/attributes.ts";

/** Whose a new file is, and who may do what with it. */
export interface Metadata {
  /** The permission bits it gets, whatever the umask. */
  readonly mode: number;
  /** Who shall own it, where this process may give it away; otherwise it is this process's. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Those of the file it replaces. Undefined for none, and where attributes cannot be seen. */
  readonly attributes?: Attributes | undefined;
}

/**
 * Sets owner, attributes and mode of an opened file, whose stats are `ours` and which no other user may open yet. What
 * the system refuses costs rights and never adds any: the group's bits are cut to what all others have when the group is
 * another, and to what the access control list gave when that cannot be kept.
 */
export function applyMetadata(descriptor: number, ours: BigIntStats, metadata: Metadata): void {
  const { mode, owner, attributes } = metadata;
  // While the file is ours and we may write to it.
  if (attributes !== undefined) setOthers(descriptor, attributes);
  const isOfOtherGroup = owner !== undefined && !isGivenAway(descriptor, ours, owner);
  fchmodSync(descriptor, applyList(descriptor, attributes?.list, { mode, isOfOtherGroup }));
}

/** The mode that the file shall have besides its list. */
function applyList(descriptor: number, list: Attributes["list"] | undefined, terms: Terms): number {
  const { mode, isOfOtherGroup } = terms;
  if (list instanceof Buffer && setList(descriptor, listWithin(list, terms))) return mode;
  const isWithout = list === undefined || removeList(descriptor);
  if (list instanceof Buffer) return cut(modeWithout(list, terms), !isWithout);
  return cut(mode, isOfOtherGroup || list === "unknown" || !isWithout);
}

/** The mode, in which the group gets no more than all others where that `isNeeded`. */
const cut = (mode: number, isNeeded: boolean): number =>
  isNeeded ? mode & (0o707 | ((mode & 0o007) << 3)) : mode;

/** Gives the file to its owner as far as the system permits. False when the group stays another. */
function isGivenAway(
  descriptor: number,
  ours: BigIntStats,
  { uid, gid }: { uid: number; gid: number },
): boolean {
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
