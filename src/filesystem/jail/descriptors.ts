/**
 * Holds folders by descriptors (Linux): with O_PATH, or opened for reading if that takes one step. A
 * descriptor keeps meaning the same folder when that is renamed or replaced, and `/proc/self/fd/N/name` names
 * an entry of exactly that folder, so the folder that was checked is the one in use.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { type Backend, type BaseName, onlyBase } from "./backend.ts";
import { isCasefoldedWithin } from "./casefold-flag.ts";
import { DescriptorFolder, folderFlags, type Opener } from "./descriptor-folder.ts";
import { inodeOf, isStillAt } from "./inode.ts";
import { namingOfBase } from "./name-comparison.ts";
import { type OpenAt, openAt, openBeneath, openThroughProc, reopen, reopenThroughProc } from "./openat.ts";
import { fileSystemType } from "./pseudo.ts";
import { supportsOpenat2 } from "./selftest.ts";

/** The backends of this module, with their functions to open names. */
export const openers = { openat: openAt, descriptors: openThroughProc } as const satisfies Record<
  string,
  OpenAt
>;

/** Holds the folder at the host path `base`, which must be canonical. Throws the errno error. */
export function holdByDescriptors(
  base: string,
  name: keyof typeof openers,
  { path, gone }: BaseName = onlyBase,
): Backend {
  const descriptor = openSync(base, folderFlags);
  const inode = inodeOf(fstatSync(descriptor, { bigint: true }));
  const type = fileSystemType(`/proc/self/fd/${descriptor}`);
  const isDirect = name === "openat";
  const own = isDirect ? openSync("/proc/self/fd", folderFlags) : undefined;
  const canResolveBeneath = isDirect && supportsOpenat2();
  const opener: Opener = {
    open: openers[name],
    ...(canResolveBeneath && { openBeneath }),
    reopen: (held, flags) =>
      own === undefined || opener.isClosed ? reopenThroughProc(held, flags) : reopen(own, held, flags),
    device: fstatSync(descriptor).dev,
    naming: namingOfBase({
      type,
      isCasefolded: () => isCasefoldedWithin(descriptor),
    }),
    isClosed: false,
  };
  return {
    name,
    canResolveBeneath: canResolveBeneath,
    naming: opener.naming,
    base: (requested) =>
      new DescriptorFolder(opener, {
        ...{ descriptor, requested, path, isBase: true },
        ...{ naming: opener.naming, type },
      }),
    goneAt: () => (isStillAt(base, inode) ? undefined : gone()),
    close() {
      opener.isClosed = true;
      closeSync(descriptor);
      if (own !== undefined) closeSync(own);
    },
  };
}
