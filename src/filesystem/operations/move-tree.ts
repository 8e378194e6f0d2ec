/**
 * Moves a folder from one root into another: it is copied, the copy is verified, and the old one is removed.
 */
import { posix } from "node:path";
import { refuse } from "../../base/errors.ts";
import type { Disk } from "../disk/disk.ts";
import { removeHiddenFolder } from "../disk/hidden-folder.ts";
import type { Requester } from "../disk/mutation.ts";
import { moveBack } from "../disk/revert.ts";
import type { HeldName, MutationScope, VerifyEntry } from "../disk/scope.ts";
import { entriesAside, keptName, setEntryAside } from "../disk/set-aside.ts";
import { digestOfTree } from "../files/tree-digest.ts";
import type { Entry } from "../files/types.ts";
import { errnoOf } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import { copyTree } from "./copy-tree.ts";
import { refuseMove } from "./move-errors.ts";
import { requireStill } from "./same-entry.ts";

interface MovingTree {
  /** The paths in the form that was sent. */
  readonly from: string;
  readonly to: string;
  readonly source: ResolvedPath;
  readonly target: Pick<ResolvedPath, "folder" | "name" | "path">;
  readonly requester: Requester;
  readonly scope: MutationScope;
}

/**
 * Moves the folder. Throws if another program changes it in the process; then it stays in its place, and so
 * does a copy that already has its name. A kill leaves the old folder, or both, or the new one whole.
 */
export async function moveTreeAcross(ctx: Disk, moving: MovingTree): Promise<void> {
  const { from, to, source, target, requester, scope } = moving;
  const { folder } = source;
  const digest = (name = source.name) => digestOfTree({ folder, name }, requester, requireOrdinary(from));
  const before = await digest();
  const { name } = target;
  await copyTree(ctx, {
    ...{ from, source, target, requester, scope },
    destination: { folder: target.folder, name, isReplacing: false, exclusive: to },
    isMove: true,
    async verify() {
      if ((await digest()) !== before) throw refuse.changed(from);
    },
  });
  const aside = { folder, name: temporaryName() };
  const verify = (path: JailedPath) => requireStill(path, source.stats!);
  const place = { folder, name: source.name, temporary: aside.name, entry: "dir", verify } as const;
  const locked = { folder, deadline: requester.deadline };
  const entries = entriesAside(place);
  // Not after the step: a kill between the two would leave a copy that an undo takes back, and nothing else.
  await scope.mutations.readRemoved(entries, requester);
  await ctx.editLock(locked, () => setEntryAside(scope, place, entries));
  // No path leads into it any longer, so an equal digest stays equal.
  if ((await digest(aside.name)) !== before) {
    const name = putBackOrBeside(aside, source.name, verify);
    throw refuseMove.changedMeanwhile(name === source.name ? from : posix.join(from, "..", name), to);
  }
  await removeHiddenFolder(folder, aside.name);
}

/** Puts a folder back, beside its name if another program has taken that. Returns the name that it has. */
function putBackOrBeside(aside: HeldName, name: string, verify: VerifyEntry): string {
  const { folder } = aside;
  try {
    moveBack([aside, { folder, name }], verify);
    return name;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    const kept = keptName(name);
    moveBack([aside, { folder, name: kept }], verify);
    return kept;
  }
}

/** Throws for an entry that cannot be copied. */
export const requireOrdinary =
  (from: string) =>
  ({ kind }: Entry): void => {
    if (kind === "other") throw refuseMove.specialFileStays(from);
  };
