/** The step that removes an entry, or gives it a temporary name until it is removed. */
import { renameSync, rmdirSync, unlinkSync } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import { quickRevisionAt } from "../files/revision.ts";
import type { Entry } from "../files/types.ts";
import type { Folder, JailedPath } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import { entriesAt } from "./held-entry.ts";
import { moveToNew } from "./move-to-new.ts";
import type { MutationKind, StepEntries } from "./mutation.ts";
import type { MutationDescription } from "./mutations.ts";
import { type MutationScope, moveVerified, type StepPlace, stepAt, type VerifyEntry } from "./scope.ts";

/** Removes a name. A folder must be empty, and a link is not followed. Throws the errno error. */
export function removeEntry(scope: MutationScope, folder: Folder, entry: Pick<Entry, "raw" | "kind">): void {
  removeAs("remove", { scope, folder, entry });
}

/** Removes a folder again that the call made for a change that has failed. Throws the errno error. */
export function takeBackFolder(scope: MutationScope, folder: Folder, name: string): void {
  removeAs("remove", { scope, folder, entry: { raw: name, kind: "dir" }, takesBack: true });
}

/**
 * Removes a file or link if `verify` accepts it, which receives it under a temporary name, where no other
 * program can replace it. An error of `verify` puts it back.
 */
export function removeVerified(
  scope: MutationScope,
  folder: Folder,
  { raw: name, kind, verify }: Pick<Entry, "raw" | "kind"> & { readonly verify: (path: JailedPath) => void },
): void {
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind }),
    () =>
      folder.enter((at) => {
        const aside = temporaryName();
        renameSync(at(name), at(aside));
        try {
          verify(at(aside));
        } catch (error) {
          restore(at(aside), at(name));
          throw error;
        }
        unlinkSync(at(aside));
      }),
  );
}

/** Puts an entry back, unless the name is taken by a newer one. */
function restore(aside: JailedPath, name: JailedPath): void {
  try {
    moveToNew(aside, name, "");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    unlinkSync(aside);
  }
}

/** Removes a temporary file. Throws the errno error. */
export function sweepEntry(scope: MutationScope, folder: Folder, { raw }: Entry): void {
  removeAs("sweep", { scope, folder, entry: { raw, kind: "file" } });
}

interface Removal {
  readonly scope: MutationScope;
  readonly folder: Folder;
  readonly entry: Pick<Entry, "raw" | "kind">;
  readonly takesBack?: boolean;
}

function removeAs(kind: MutationKind, { scope, folder, entry, takesBack }: Removal): void {
  const { raw: name, kind: type } = entry;
  scope.mutations.step(
    () => ({
      ...removalOf(scope, folder, entry),
      kind,
      takesBack,
      ...(kind !== "remove" && { entries: undefined }),
    }),
    () => folder.enter((at) => (type === "dir" ? rmdirSync(at(name)) : unlinkSync(at(name)))),
  );
}

function removalOf(scope: MutationScope, folder: Folder, entry: Removal["entry"]): MutationDescription {
  const { raw: name, kind: type } = entry;
  return {
    ...stepAt(scope, folder, { name, entry: type }),
    kind: "remove",
    revisionBefore: type === "file" ? () => folder.enter((at) => quickRevisionAt(at(name))) : undefined,
    entries: entriesAt({ folder, name }),
  };
}

/** Returns the entries of `setEntryAside`. */
export const entriesAside = ({ folder, name, temporary, entry }: StepPlace): StepEntries =>
  entriesAt({ folder, name, ...(entry === "dir" && { aside: temporary }) });

/**
 * Gives an entry that is to be removed, a folder with everything in it, the temporary name. `entries` are
 * those of the step, which listeners may have read. Throws the errno error.
 */
export function setEntryAside(
  scope: MutationScope,
  place: StepPlace & { readonly verify: VerifyEntry },
  entries = entriesAside(place),
): StepEntries {
  const { folder, name, temporary, entry, verify } = place;
  scope.mutations.step(
    () => ({ ...removalOf(scope, folder, { raw: name, kind: entry }), entries }),
    () => folder.enter((at) => moveVerified([at(name), at(temporary)], verify)),
  );
  return entries;
}
