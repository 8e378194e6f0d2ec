import { changePermissions } from "../disk/chmod.ts";
import type { Disk } from "../disk/disk.ts";
import { exchangeEntry } from "../disk/exchange.ts";
import { entriesAt } from "../disk/held-entry.ts";
import { holdFolderAt, splitLast } from "../disk/hold-folder.ts";
import type { StepEntries } from "../disk/mutation.ts";
import { placeEntry } from "../disk/place.ts";
import { renameAsStep } from "../disk/rename.ts";
import type { MutationScope, VerifyEntry } from "../disk/scope.ts";
import { setEntryAside } from "../disk/set-aside.ts";
import type { SetAsideStep } from "../disk/steps.ts";
import { isLarge } from "../files/revision.ts";
import { digestOfTree } from "../files/tree-digest.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import { type DraftStep, expectationOf, stagedOf } from "./draft.ts";
import { verifyExpected, verifySame, verifyUnchanged } from "./identity.ts";

/** Makes the steps of a transaction, one after another. */
export class StepRunner {
  readonly #jail: Jail;
  readonly #editLock: Disk["editLock"];
  readonly #scope: MutationScope;
  /** The entries that a step has renamed or whose mode it has set, by device and inode. */
  readonly #touched = new Set<string>();
  #made = 0;

  constructor({ jail, editLock }: Pick<Disk, "jail" | "editLock">, scope: MutationScope) {
    this.#jail = jail;
    this.#editLock = editLock;
    this.#scope = scope;
  }

  /** The number of steps that were made. */
  get made(): number {
    return this.#made;
  }

  async run(draft: DraftStep): Promise<void> {
    const { step } = draft;
    const { outer, name } = splitLast(step.kind === "rename" ? step.from : step.path);
    using folder = holdFolderAt(this.#jail, outer);
    const deadline = this.#scope.requester?.deadline;
    const { temporary } = draft;
    const place = { folder, name, temporary };
    const { mutations } = this.#scope;
    if (step.kind === "set-aside") await this.#requireDigest(step, place);
    const entries = entriesAt(place);
    if (isOfLargeFile(draft)) {
      const { replaced } = entriesAt({ folder, name });
      await mutations.readAhead(
        step.kind === "rename" ? { replaced: () => undefined, placed: replaced } : { replaced },
        this.#scope.requester,
      );
    }
    if (step.kind === "place" && stagedOf(draft)?.kind === "copy") await mutations.readPlaced(entries);
    const setAside = await this.#editLock({ folder, deadline }, () => this.#runLocked(draft, place, entries));
    if (setAside?.aside !== undefined) await mutations.readAside(setAside);
  }

  /** Throws ESTALE if another program has changed a folder since it was copied. */
  async #requireDigest({ digest }: SetAsideStep, place: Omit<TemporaryName, "temporary">): Promise<void> {
    if (digest !== undefined && (await digestOfTree(place, this.#scope.requester!)) !== digest)
      throw errnoError("ESTALE");
  }

  /** Makes the step, at whose place are `held`. Returns the entries of an entry that was set aside. */
  #runLocked(draft: DraftStep, place: TemporaryName, held: StepEntries): StepEntries | undefined {
    const { step, entries } = draft;
    let setAside: StepEntries | undefined;
    switch (step.kind) {
      case "place":
        this.#place(draft, place, held);
        break;
      case "exchange":
        this.#exchange(draft, place);
        break;
      case "set-aside":
        setAside = setEntryAside(this.#scope, {
          ...place,
          entry: entries.entry!.recorded!.kind,
          verify: this.#verify(draft),
        });
        break;
      case "rename":
        this.#rename(draft, place);
        break;
      case "chmod":
        this.#chmod(step, place, this.#verify(draft));
    }
    const recorded = entries.entry?.recorded;
    if (recorded !== undefined) this.#touched.add(inodeOf(recorded));
    this.#made++;
    return setAside;
  }

  #place(draft: DraftStep, place: TemporaryName, entries: StepEntries): void {
    const staged = stagedOf(draft)!;
    const recorded = draft.entries.staged!.recorded!;
    placeEntry(this.#scope, {
      ...place,
      entries,
      entry: recorded.kind,
      verify: verifySame(recorded),
      from: staged.kind === "copy" ? staged.of.path : undefined,
      revisionAfter: recorded.revision,
    });
  }

  #exchange(draft: DraftStep, place: TemporaryName): void {
    const recorded = draft.entries.staged!.recorded!;
    exchangeEntry(this.#scope, {
      ...place,
      aside: draft.aside!,
      entry: recorded.kind,
      verifyStaged: verifySame(recorded),
      verifyReplaced: this.#verify(draft),
      revisionAfter: recorded.revision,
    });
  }

  #rename(draft: DraftStep, source: TemporaryName): void {
    const { step, entries } = draft;
    if (step.kind !== "rename") return;
    const { outer, name } = splitLast(step.to);
    using folder = holdFolderAt(this.#jail, outer);
    renameAsStep(this.#scope, {
      source,
      target: { folder, name },
      from: step.from,
      entry: entries.entry!.recorded!.kind,
      verify: this.#verify(draft),
    });
  }

  #chmod(step: { path: string; mode: number }, { folder, name }: TemporaryName, verify: VerifyEntry): void {
    const handle = folder.openPath(name);
    try {
      folder.enter((at) => verify(at(name), { isRenamed: false }));
      if (handle.stats.isSymbolicLink()) throw errnoError("ELOOP");
      const permitted = { path: step.path, handle, stats: handle.stats };
      changePermissions(this.#scope, permitted, { mode: step.mode, uid: undefined, gid: undefined });
    } finally {
      handle.close();
    }
  }

  /**
   * Returns the check against the planned version, or against the staged entry if the transaction made it
   * itself.
   */
  #verify(draft: DraftStep): VerifyEntry {
    const recorded = draft.entries.entry!.recorded!;
    const expected = expectationOf(draft)!;
    if ("staged" in expected)
      return recorded.revision === undefined ? verifySame(recorded) : verifyUnchanged(recorded);
    return verifyExpected({
      version: expected,
      isTouched: this.#touched.has(inodeOf(recorded)),
    });
  }
}

/** Returns whether a step removes, replaces or moves a large file. */
function isOfLargeFile({ step, entries }: DraftStep): boolean {
  const recorded = step.kind === "chmod" ? undefined : entries.entry?.recorded;
  return recorded?.kind === "file" && isLarge({ size: Number(recorded.size) });
}

interface TemporaryName {
  readonly folder: Folder;
  readonly name: string;
  readonly temporary: string;
}
