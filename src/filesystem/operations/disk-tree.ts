import { readlinkSync } from "node:fs";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { Disk } from "../disk/disk.ts";
import { entriesAt } from "../disk/held-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { type CommitTarget, commitFile, commitLink, makeDirectory } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import type { StagedFile } from "../disk/steps.ts";
import { sweepFolder, sweepTree } from "../disk/sweep.ts";
import { writeAtomically } from "../disk/write.ts";
import { isLarge } from "../files/revision.ts";
import type { Entry } from "../files/types.ts";
import { mapErrno } from "../jail/errno.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";
import { holdsMount } from "../jail/mounts.ts";
import { copyFileTo } from "./copy-file.ts";
import { copyTree } from "./copy-tree.ts";
import { requireRevisionOf } from "./expected-revision.ts";
import { changeModeOf } from "./mode-of-tree.ts";
import { NewFolders } from "./new-folders.ts";
import { admitInTurn, type WriteTarget } from "./path-lock.ts";
import { moveOnDisk, type Relocating, relocate } from "./relocate.ts";
import { removeFromDisk } from "./remove-from-disk.ts";
import type { TwoPaths } from "./require-target.ts";
import type {
  EntryCopy,
  EntryPlacement,
  EntryReplacement,
  ModeStep,
  Relocation,
  SettingAside,
  WritableTree,
} from "./writable-tree.ts";

/** A file to be made from content that arrives over time. */
interface StreamedFile extends Omit<StagedFile, "content"> {
  readonly content: AsyncIterable<Uint8Array>;
}

/** A step whose file may arrive over time. */
type Streamed<Step extends EntryPlacement | EntryReplacement> = Omit<Step, "made"> & {
  readonly made: Step["made"] | StreamedFile;
};

/** The tree on the disk, which makes each step at once. */
export class DiskTree implements WritableTree {
  readonly jail: Disk["jail"];
  readonly config: Disk["config"];
  readonly isPlanned = false;
  readonly isTrial = false;
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.jail = disk.jail;
    this.config = disk.config;
  }

  admit<const Targets extends readonly WriteTarget[]>(targets: Targets, deadline: Deadline) {
    return admitInTurn(this.#disk, targets, deadline);
  }

  holdsMount(folder: Folder): boolean | undefined {
    return holdsMount(folder);
  }

  async place(
    { place, made, mayReplace = false }: Streamed<EntryPlacement>,
    requester: Requester,
  ): Promise<void> {
    const scope = { mutations: this.#disk.mutations, requester };
    using parents = new NewFolders(place, scope);
    const folder = await parents.make();
    if (made.kind === "dir") {
      makeDirectory(scope, folder, { name: place.name, mode: made.mode });
      parents.keep();
      return;
    }
    const exclusive = mayReplace ? undefined : place.requested;
    const target = { folder, name: place.name, isReplacing: false, exclusive };
    await this.#make(made, { place, target, scope });
    parents.keep();
    if (this.config.fsync) await parents.flush();
  }

  async exchange(
    { place, made, held, expected }: Streamed<EntryReplacement>,
    requester: Requester,
  ): Promise<void> {
    const scope = { mutations: this.#disk.mutations, requester };
    const target = { folder: place.folder, name: place.name, isReplacing: true, expected };
    await this.#make(made, { place, target, scope });
    if (held !== undefined) held.isReplaced = true;
  }

  async setAside(step: SettingAside, requester: Requester): Promise<void> {
    await removeFromDisk(this.#disk, step, requester);
  }

  async rename(step: Relocation, requester: Requester): Promise<void> {
    await moveOnDisk(this.#disk, step, requester);
  }

  /** Like `rename`, but to a place in an existing folder, by the rules of rename(2). */
  async relocate(paths: TwoPaths, relocating: Relocating): Promise<void> {
    await relocate(this.#disk, paths, relocating);
  }

  setPermissions(step: ModeStep, requester: Requester): Promise<number> {
    return changeModeOf(this.#disk, step, requester);
  }

  /** Makes an entry under a temporary name, and gives it the name of the target. */
  async #make(
    made: Exclude<Streamed<EntryPlacement>["made"], { kind: "dir" }>,
    making: Making,
  ): Promise<void> {
    const { target, scope } = making;
    const { mutations, requester } = scope;
    if (made.kind === "copy") {
      await this.#copy(made, making);
      return;
    }
    if (made.kind === "symlink") {
      await readAhead(making);
      commitLink(scope, made.text, target);
      return;
    }
    const { kind: _, times: __, content, ...metadata } = made;
    // A slow sender must not hold up other workers.
    const editLock = Symbol.asyncIterator in content ? undefined : this.#disk.editLock;
    const { fsync } = this.config;
    const isHashed = mutations.isObserved;
    const onWritten = () => readAhead(making);
    const pending = { ...metadata, content, folder: target.folder, fsync, isHashed, onWritten, editLock };
    await writeAtomically(pending, requester.deadline, (written) => commitFile(scope, written, target));
  }

  async #copy({ source, expectedRevision: expected }: EntryCopy, making: Making): Promise<void> {
    const { place, target, scope } = making;
    const { requested: path, folder, name } = source;
    const { requester } = scope;
    if (source.stats!.isDirectory()) {
      await copyTree(this.#disk, { from: path, source, target: place, requester, destination: target });
    } else if (source.stats!.isSymbolicLink()) {
      const text = mapErrno(path, () => folder.enter((at) => readlinkSync(at(name), "buffer")));
      await readAhead(making);
      commitLink(scope, text, target);
    } else {
      const { fsync, max_write_bytes: bytes } = this.config;
      await copyFileTo(scope, [source, target], {
        limit: { key: "max_write_bytes", bytes },
        fsync,
        deadline: requester.deadline,
        verify: ({ descriptor }) => expected && requireRevisionOf(descriptor, { path, expected }),
      });
    }
  }

  /**
   * Removes everything that killed processes left below the base, or a part of it if `stop` aborts. Returns
   * the number of files.
   */
  sweep(stop?: AbortSignal): Promise<number> {
    return sweepTree(this.#disk, stop);
  }

  /**
   * Removes the temporary files in a folder that are no longer in use. Returns their number. Never throws.
   */
  sweepFolder(folder: Folder, entries: readonly Entry[]): number {
    if (this.jail.isReadOnly(folder.path)) return 0;
    const scope = { mutations: this.#disk.mutations, requester: undefined };
    return sweepFolder(scope, { folder, entries, disk: this.#disk });
  }
}

interface Making {
  readonly place: ResolvedPath;
  readonly target: CommitTarget;
  readonly scope: MutationScope & { readonly requester: Requester };
}

/** Lets listeners read a large file before the step that replaces it. */
async function readAhead({
  place: { stats },
  target,
  scope: { mutations, requester },
}: Making): Promise<void> {
  if (stats !== undefined && isLarge(stats)) await mutations.readAhead(entriesAt(target), requester);
}
