/** Makes the new entries of a transaction under temporary names, which callers do not see. */
import { type BigIntStats, closeSync, constants, fstatSync, openSync } from "node:fs";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { makeInnerLink, makeStagedFolder } from "../disk/hidden-folder.ts";
import { holdFolderAt, splitLast, withFolderOf } from "../disk/hold-folder.ts";
import type { Requester } from "../disk/mutation.ts";
import { removeTemporary } from "../disk/revert.ts";
import type { EntryVersion, Staged, StagedCopy, StagedFile, StagedSource } from "../disk/steps.ts";
import { type PendingFile, writeHidden } from "../disk/write.ts";
import { openPlace } from "../files/open-file.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { errnoError } from "../jail/errno.ts";
import { lockExclusively } from "../jail/flock.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { fillCopy } from "../operations/copy-tree.ts";
import { type DraftStep, expectationOf, stagedOf } from "./draft.ts";
import { isSame, recordOf, statsAt } from "./identity.ts";
import type { NamedEntry } from "./name-tree.ts";
import { statPath } from "./survey.ts";

export interface StagingContext {
  readonly jail: Jail;
  readonly config: { readonly fsync: boolean; readonly max_write_bytes: number };
}

/** Maximum files held open at once. Other workers then do not build on files that a rollback may remove. */
const maxHeld = 256;

/** Staged entries. Dispose of it when they have their names for good, or after `discard`. */
export class Staging implements Disposable {
  readonly #ctx: StagingContext;
  readonly #requester: Requester;
  readonly #made: NamedEntry[] = [];
  readonly #held: number[] = [];

  constructor(ctx: StagingContext, requester: Requester) {
    this.#ctx = ctx;
    this.#requester = requester;
  }

  /** Makes the entry that the step needs. Throws the errno error, and refusals of a copy. */
  async add(draft: DraftStep): Promise<void> {
    const staged = stagedOf(draft);
    if (staged === undefined) return;
    this.#requester.deadline.check();
    const entry = draft.entries.staged!;
    const { outer, name } = splitLast(entry.pathAfter(0));
    using folder = holdFolderAt(this.#ctx.jail, outer);
    this.#made.push(entry);
    await this.#make(staged, { folder, name, path: targetOf(draft) });
    const stats = folder.enter((at) => statsAt(at(name)));
    // Another program has removed it, perhaps with its folder.
    if (stats === undefined) throw errnoError("ESTALE");
    entry.recorded = recordOf(stats);
    if (staged.kind === "file") this.#hold(folder, name);
  }

  async #make(staged: Staged, { folder, name, path }: Making): Promise<void> {
    if (staged.kind === "dir") makeStagedFolder(folder, name, staged.mode);
    else if (staged.kind === "symlink") makeInnerLink(folder, name, staged.text);
    else if (staged.kind === "copy") await this.#copy(staged, { folder, name, path });
    else await this.#write(staged, { folder, name });
  }

  async #write(staged: StagedFile, { folder, name }: Omit<Making, "path">): Promise<void> {
    const { kind: _, content, ...metadata } = staged;
    const { fsync, max_write_bytes } = this.#ctx.config;
    const pending = { ...metadata, folder, fsync };
    if (!("cloneOf" in content)) return await writeHidden(name, withTimes({ ...pending, content }, staged));
    const source = this.#ctx.jail.admit(content.cloneOf.path, { lastLink: "bare" });
    using _place = source;
    const file = openPlace(source, { key: "max_write_bytes", bytes: max_write_bytes });
    try {
      const requireSource = () =>
        requireVersion(fstatSync(file.descriptor, { bigint: true }), content.cloneOf.expected);
      requireSource();
      const cloned = { ...pending, content: file.pieces(), cloneOf: file.descriptor };
      await writeHidden(name, withTimes(cloned, staged));
      requireSource();
    } finally {
      file.close();
    }
  }

  async #copy({ of, requested }: StagedCopy, { folder, name, path }: Making): Promise<void> {
    const { jail } = this.#ctx;
    using source = jail.admit(of.path, { lastLink: "bare" });
    requireSource(statPath(jail, of.path), of);
    makeStagedFolder(folder, name, 0o700);
    using hidden = folder.child(name);
    const building = { source, target: { folder, path }, from: requested, requester: this.#requester };
    await fillCopy(this.#ctx, building, hidden);
  }

  #hold(folder: Folder, name: string): void {
    if (this.#held.length >= maxHeld) return;
    try {
      const descriptor = folder.enter((at) => openSync(at(name), constants.O_RDONLY | constants.O_NOFOLLOW));
      this.#held.push(descriptor);
      lockExclusively(descriptor);
    } catch {
      // The mode of the folder denies access.
    }
  }

  /** Records the staged entries, and those that the steps expect, after all staging. */
  record(draft: DraftStep): void {
    const { staged, entry } = draft.entries;
    const made = stagedOf(draft);
    if (staged !== undefined && made !== undefined)
      staged.recorded = recordOf(lookAgain(this.#ctx.jail, staged), revisionOfStaged(made));
    if (entry === undefined || entry.recorded !== undefined) return;
    const stats = statPath(this.#ctx.jail, entry.pathAfter(0));
    const expected = expectationOf(draft)!;
    if (stats === undefined) throw errnoError("ESTALE");
    if (!("staged" in expected)) requireVersion(stats, expected);
    entry.recorded = recordOf(stats);
  }

  /** Removes staged entries that have no final name yet. A failure is left to the sweep. */
  async discard(): Promise<void> {
    // Removing them takes descriptors, and none may be left.
    this[Symbol.dispose]();
    const slice = createTimeSlice();
    for (const entry of this.#made.toReversed()) {
      try {
        const { outer, name } = splitLast(entry.pathAfter(0));
        using folder = holdFolderAt(this.#ctx.jail, outer);
        await removeTemporary({ folder, name }, () => {});
      } catch {
        // The entry is gone, or its folder is not accessible.
      }
      await slice.yieldIfDue();
    }
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor);
  }
}

interface Making {
  readonly folder: Folder;
  /** The temporary name that the entry is made under. */
  readonly name: string;
  /** The path that it will have, from the base. */
  readonly path: string;
}

const targetOf = ({ step }: DraftStep): string => (step.kind === "rename" ? step.to : step.path);

const withTimes = (pending: Omit<PendingFile, "times">, { times }: StagedFile): PendingFile =>
  times === undefined ? pending : { ...pending, times };

const revisionOfStaged = (staged: Staged): string | undefined =>
  staged.kind === "file" && !("cloneOf" in staged.content) ? revisionOfBytes(staged.content) : undefined;

/** Returns the current stats of an entry. Throws ESTALE if another program has removed or replaced it. */
function lookAgain(jail: Jail, entry: NamedEntry): BigIntStats {
  const stats = withFolderOf(jail, entry.pathAfter(0), ({ folder, name }) =>
    folder.enter((at) => statsAt(at(name))),
  );
  if (stats === undefined || !isSame(stats, entry.recorded!)) throw errnoError("ESTALE");
  return stats;
}

function requireSource(stats: BigIntStats | undefined, { expected }: StagedSource): void {
  if (stats === undefined) throw errnoError("ESTALE");
  requireVersion(stats, expected);
}

/**
 * Throws ESTALE unless the entry has the expected version. A folder need only be the same one, since staging
 * changes it.
 */
function requireVersion(stats: BigIntStats, expected: EntryVersion): void {
  const isWanted =
    stats.ino === expected.ino &&
    stats.dev === expected.dev &&
    (stats.isDirectory() ||
      (stats.size === expected.size &&
        stats.mtimeNs === expected.mtimeNs &&
        stats.ctimeNs === expected.ctimeNs));
  if (!isWanted) throw errnoError("ESTALE");
}
