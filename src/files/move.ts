import { refuse } from "../errors.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Jail, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { remakeLink } from "./mutate.ts";
import type { Requester } from "./mutation.ts";
import { NewFolders } from "./new-folders.ts";
import { requireNothingDenied } from "./remove.ts";
import { type Renaming, relocate } from "./rename.ts";
import { requireWritableFile } from "./require-writable-file.ts";
import type { FilesContext } from "./types.ts";

export interface Moving extends Renaming {
  /** Whether missing folders are made, with the permissions that the umask leaves. */
  readonly parents: boolean;
}

/** See `Files.move`. */
export async function movePath(ctx: FilesContext, moving: Moving, requester: Requester): Promise<boolean> {
  try {
    return await moveNow(ctx, moving, requester);
  } catch (error) {
    // A folder inside may have become something else while it was looked at.
    throw refusalOfErrno(error, moving.from);
  }
}

async function moveNow(ctx: FilesContext, moving: Moving, requester: Requester): Promise<boolean> {
  const { from, to, parents } = moving;
  const options = { changes: "tree", lastLink: "stay" } as const;
  using source = ctx.jail.admit(from, options);
  using target = ctx.jail.admit(to, { ...options, mayBeMissing: true, parents });
  if (source.name === ".") throw refuse.badInput(baseIsKept);
  if (source.path === target.path) return false;
  if (target.stats !== undefined) requireReplaceable(ctx.jail, moving);
  if (source.stats?.isDirectory()) {
    requireFolderFits(moving, { source, target });
    await requireAllAllowed(ctx.jail, { source, target, from, deadline: requester.deadline });
  }
  const scope = { mutations: ctx.mutations, requester };
  using folders = new NewFolders(target, scope);
  const { name, path, stats } = target;
  const destination = { folder: folders.make(), name, path, stats };
  if (needsNewLink(source, target)) mapErrno(to, () => remakeLink(scope, { source, target: destination }));
  else await relocate(ctx, moving, { source, target: destination, requester });
  folders.keep();
  if (ctx.config.fsync) await folders.flush();
  return true;
}

/** Where two folders cannot be held at once, rename(2) cannot be asked. */
const needsNewLink = ({ stats, folder }: ResolvedPath, target: ResolvedPath): boolean =>
  stats?.isSymbolicLink() === true &&
  target.stats === undefined &&
  folder.descriptor === undefined &&
  folder.path !== target.folder.path;

const baseIsKept = "The base folder itself cannot be moved; name the files and folders in it instead.";

/** A link goes as a link, and yet only one to a file: who names one to a folder may mean that folder. */
function requireReplaceable(jail: Jail, { to, overwrite }: Moving): void {
  if (!overwrite) throw refuse.exists(to);
  using place = jail.admit(to, { changes: "tree" });
  if (place.stats?.isDirectory()) throw refuse.isAFolder(to);
  requireWritableFile(place);
}

function requireFolderFits({ from, to }: Moving, { source, target }: Ends): void {
  if (target.stats !== undefined)
    throw refuse.badInput(
      `A file is at ${nameOf(to)}, and the folder ${nameOf(from)} cannot replace it; send a "to" where nothing is.`,
    );
  if (target.path.startsWith(`${source.path}/`))
    throw refuse.badInput(
      `The folder ${nameOf(from)} cannot be moved into itself; send a "to" that is not inside it.`,
    );
}

const nameOf = (path: string): string => JSON.stringify(path.slice(0, 60));

interface Ends {
  readonly source: ResolvedPath;
  readonly target: ResolvedPath;
}

interface Tree extends Ends {
  readonly from: string;
  readonly deadline: Deadline;
}

/** Throws unless everything in a folder may be reached where it is, and where it is going to be. */
async function requireAllAllowed(jail: Jail, { source, target, from, deadline }: Tree): Promise<void> {
  using inside = source.folder.child(source.name);
  using slice = createWalkSlice({ deadline });
  const { folding } = target.folder;
  const atBoth: Jail = {
    ...jail,
    deniesIn: (folder, name) =>
      jail.deniesIn(folder, name) ||
      jail.deniesIn({ path: target.path + folder.path.slice(source.path.length), folding }, name),
  };
  await requireNothingDenied({ jail: atBoth, path: from, deadline, slice, entries: 0 }, inside, 1);
}
