/**
 * Undoes records on a tree. Each step is undone, the newest first, if its path is unchanged since the step; a
 * change by another program since then is a conflict.
 */
import { isDeepStrictEqual } from "node:util";
import { Refusal } from "../../base/errors.ts";
import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import { ancestorsOf } from "../jail/backend.ts";
import type { RecordedState } from "./frame.ts";
import { isAsRecorded } from "./is-as-recorded.ts";
import { refuseJournal } from "./journal-errors.ts";
import type { LaterRecords } from "./later-records.ts";
import { netSteps } from "./net-steps.ts";
import { inPauses, type JournalRecord, type KeptContent, type RecordedStep } from "./read-record.ts";
import type { RestoredTree, TreeState } from "./restored-tree.ts";

export interface UndoOptions {
  readonly tree: RestoredTree;
  /** The records to undo together, in the order of their steps in time. */
  readonly records: readonly JournalRecord[];
  /** Returns whether to undo a step. */
  readonly selects: (step: RecordedStep) => boolean;
  /** Returns whether a step removed a folder that selected ones need. It is undone if that is not there. */
  readonly isNeeded?: (step: RecordedStep) => boolean;
  /** Whether to undo steps whose paths have changed since. */
  readonly force: boolean;
  /** Returns content that a step removed, or `undefined` if the journal has dropped it. */
  readonly content: (step: RecordedStep, kept: KeptContent) => Promise<Buffer | undefined>;
  /** The tree before the undo. Default: the states that the undo itself has found in `tree`. */
  readonly original?: Pick<RestoredTree, "stateInSlices">;
  /** The newest records, among them those that caused conflicts. */
  readonly later: LaterRecords;
  /** The roots whose folders are not there, so that nothing in them can be restored. Default: none. */
  readonly goneRoots?: readonly string[];
  /** Lets other calls run. Called after each path, it throws if the undo must end. */
  readonly pause: () => Promise<void>;
}

/** The reason why a path stays unchanged. */
export type SkipReason = "unavailable" | "in-the-way" | "protected" | "root-gone";

export interface Skipped {
  readonly path: string;
  readonly reason: SkipReason;
}

/** The outcome for one record. */
export interface UndoneRecord {
  readonly seq: number;
  /** The paths restored to their state before the record. */
  readonly restored: string[];
  /** The paths that the record had created. */
  readonly removed: string[];
  readonly skipped: Skipped[];
}

/** A path that has changed since a record. */
export interface UndoConflict {
  readonly path: string;
  readonly seq: number;
  readonly expected: RecordedState["kind"];
  readonly found: TreeState["kind"];
  /** The later checkpoint that left what was found; absent if another program did. */
  readonly by?: number;
  /** With `force`: whether the later change was kept or overwritten. */
  readonly outcome?: "kept" | "overwritten";
  /** The path where it is kept, if it was moved back. */
  readonly kept_at?: string;
  /** Present if a call did whose change no record has. */
  readonly unrecorded?: true;
  /** Present if `force` does not undo the step either. */
  readonly stays?: true;
  /** The path of an entry in a folder that would have to be empty. */
  readonly holds?: string;
  /** The path that cannot be restored because the one of the conflict is not a folder. */
  readonly below?: string;
  /** Present if only `force` undoes the step once `force` need not leave it. */
  readonly then_force?: true;
}

export interface UndoOutcome {
  readonly undone: readonly UndoneRecord[];
  /** The conflicts. They forbid carrying out the undo without `force`. */
  readonly conflicts: readonly UndoConflict[];
}

/**
 * Undoes the records on the tree. Throws a `Refusal` for a path that calls may no longer change, unless
 * `force` skips it, and any error that is not a `Refusal`.
 */
export async function undoRecords(options: UndoOptions): Promise<UndoOutcome> {
  const { pause } = options;
  const undo = new Undo(options);
  for (const { step, isNeeded } of await stepsToUndo(options)) {
    if (!isNeeded || (await undo.isMissing(step))) await undo.undoStep(step);
    await pause();
  }
  await undo.setModes();
  return await undo.outcome();
}

/** A step to undo. One that is only needed by others is undone if the folder that it removed is not there. */
interface StepToUndo {
  readonly step: RecordedStep;
  readonly isNeeded: boolean;
}

/** Returns the steps to undo, the newest first, without those that take each other back. */
async function stepsToUndo({
  records,
  selects,
  isNeeded = () => false,
  pause,
}: UndoOptions): Promise<StepToUndo[]> {
  const [selected, needed]: [RecordedStep[], RecordedStep[]] = [[], []];
  for (const record of records)
    for (const step of record.steps) {
      if (selects(step)) selected.push(step);
      else if (isNeeded(step)) needed.push(step);
      await pause();
    }
  const oldestFirst = (await inPauses(mergeSort(selected, isLater), pause)).toReversed();
  const net = await inPauses(netSteps(oldestFirst), pause);
  if (net.length === 0) return [];
  const waiting = (await inPauses(mergeSort(needed, isLater), pause)).toReversed();
  const all: StepToUndo[] = [];
  for (const step of net.toReversed()) {
    for (let next = waiting.at(-1); next !== undefined && isLater(next, step); next = waiting.at(-1))
      all.push({ step: waiting.pop()!, isNeeded: true });
    all.push({ step, isNeeded: false });
    await pause();
  }
  return [...all, ...waiting.toReversed().map((step) => ({ step, isNeeded: true }))];
}

const isLater = (one: RecordedStep, other: RecordedStep): boolean =>
  one.at > other.at || (one.at === other.at && one.part > other.part);

const absent = { kind: "absent" } as const;

class Undo {
  readonly #options: UndoOptions;
  readonly #undone: Map<number, UndoneRecord>;
  /** The paths that each record skips. */
  readonly #skipped = new Map<number, Set<string>>();
  readonly #conflicts: UndoConflict[] = [];
  /** The conflicts that `force` passes over, by the current path of what was found. */
  #passedOver = new Map<string, UndoConflict>();
  readonly #blocked = new BlockedPaths();
  /** The folders whose modes are set at the end, since a mode could prevent adding entries. */
  #modes = new Map<string, number>();
  /** Removed folders that this undo has restored, with the trees for their entries. */
  readonly #remade = new Map<string, RestoredTree | undefined>();
  /** The identities of entries that were moved back without being hashed, by their paths. */
  readonly #moved = new Map<string, string>();
  /** The states of paths before they are changed. */
  readonly #initial = new Map<string, TreeState>();
  /** The old and new names of the entries that were moved back. */
  readonly #ends = new Set<string>();
  /** The paths that were changed after an entry at or above them was moved back. */
  readonly #late = new Set<string>();

  constructor(options: UndoOptions) {
    this.#options = options;
    for (const name of options.goneRoots ?? []) this.#blocked.add(name, "root-gone");
    this.#undone = new Map(
      options.records.map(({ seq }) => [seq, { seq, restored: [], removed: [], skipped: [] }]),
    );
  }

  /** Returns each changed path once, as restored or removed, under the oldest record that changed it. */
  async outcome(): Promise<UndoOutcome> {
    const said = new Set<string>();
    const undone: UndoneRecord[] = [];
    for (const { seq, restored, removed, skipped } of [...this.#undone.values()].reverse()) {
      const net: UndoneRecord = { seq, restored: [], removed: [], skipped };
      for (const path of restored.concat(removed)) {
        if (said.has(path)) continue;
        said.add(path);
        const state = await this.#stateIfReached(path);
        const isOtherFolder = state.kind === "dir" && this.#ends.has(path);
        if (isOtherFolder || !areSame(await this.#initialState(path), state))
          (state.kind === "absent" ? net.removed : net.restored).push(path);
        await this.#options.pause();
      }
      undone.push(net);
    }
    return { undone: undone.reverse(), conflicts: this.#settledConflicts() };
  }

  /** Returns the conflicts. With `force`, each has the outcome of the later change. */
  #settledConflicts(): UndoConflict[] {
    if (!this.#options.force) return this.#conflicts;
    const kept = new Map([...this.#passedOver].map(([path, conflict]) => [conflict, path]));
    return this.#conflicts.map((conflict) => {
      const at = kept.get(conflict);
      if (at === undefined) return { ...conflict, outcome: "overwritten" };
      return { ...conflict, outcome: "kept", ...(at !== conflict.path && { kept_at: at }) };
    });
  }

  /** Notes the state of a path before it is changed. */
  #note(path: string, found: TreeState): void {
    if (this.#initial.has(path)) return;
    this.#initial.set(path, found);
    if ([path, ...ancestorsOf(path)].some((one) => this.#ends.has(one))) this.#late.add(path);
  }

  /** Returns the state of a path before the undo. */
  async #initialState(path: string): Promise<TreeState> {
    const { original } = this.#options;
    if (original !== undefined && this.#late.has(path))
      return await absentIfRefused(() => original.stateInSlices(path, this.#moved.get(path)));
    return this.#initial.get(path) ?? absent;
  }

  async undoStep(step: RecordedStep): Promise<void> {
    const { path, from = path } = step;
    const reason =
      this.#blocked.reasonFor(path) ?? this.#blocked.reasonFor(from) ?? (step.unavailable && "unavailable");
    if (reason === "root-gone") this.#skipInGoneRoot(step);
    else if (reason !== undefined && reason !== "conflict") this.#skip(step, path, reason);
    if (reason === undefined && !this.#meetsLink(step)) await this.#attempt(step);
    const blocked = reason ?? this.#blocked.reasonFor(path) ?? this.#blocked.reasonFor(from);
    if (blocked !== undefined) for (const end of [path, from]) this.#blocked.add(end, blocked);
  }

  /** Returns whether nothing is at the path of a step. */
  async isMissing({ path }: RecordedStep): Promise<boolean> {
    return (await this.#stateIfReached(path)).kind === "absent";
  }

  /** Returns whether a folder of a step is a link now, so that the step could only be undone elsewhere. */
  #meetsLink(step: RecordedStep): boolean {
    const { tree } = this.#options;
    const { path, from = path } = step;
    const below = tree.linkAbove(path) === undefined ? from : path;
    const link = tree.linkAbove(below);
    if (link === undefined) return false;
    const found = { kind: "symlink", text: Buffer.alloc(0) } as const;
    this.#leaveBelow(step, { path: link, found, below });
    return true;
  }

  /** Returns whether a path cannot be restored because one above it is not a folder. */
  #lacksFolder(step: RecordedStep, below: string): boolean {
    const above = this.#options.tree.nonFolderAbove(below);
    if (above === undefined) return false;
    this.#leaveBelow(step, { path: above.path, found: above.state, below });
    return true;
  }

  /** Leaves a path below an entry that would have to be a folder. */
  #leaveBelow(step: RecordedStep, conflict: Pick<Disagreement, "path" | "found" | "below">): void {
    const thenForce = step.kind !== "rename" && step.after.state.kind !== "absent";
    this.#mayOverride(step, { ...conflict, expected: { kind: "dir" }, stays: true, thenForce });
    if (this.#options.force) this.#skip(step, step.path, "in-the-way");
    else this.#blocked.add(step.path, "conflict");
  }

  async #attempt(step: RecordedStep): Promise<void> {
    try {
      await (step.kind === "rename" ? this.#undoRename(step) : this.#undoChange(step));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await this.#refuse(step, error);
    }
  }

  /** Sets the modes of the restored folders, the innermost first. */
  async setModes(): Promise<void> {
    const sorting = mergeSort([...this.#modes], ([one], [other]) => one > other);
    const innermostFirst = await inPauses(sorting, this.#options.pause);
    for (const [path, mode] of innermostFirst) {
      await this.#treeFor(path).setMode(path, mode);
      await this.#options.pause();
    }
  }

  async #undoChange(step: RecordedStep): Promise<void> {
    const { path, kind, before, after } = step;
    const found = await this.#stateOf(path);
    const isChmod = kind === "chmod";
    if (isAsRecorded(after.state, found, isChmod)) {
      if (isAsRecorded(before.state, found, isChmod)) return;
    } else if (isAsRecorded(before.state, found, isChmod)) return;
    else if (!isChmod && found.kind === "absent" && this.#lacksFolder(step, path)) return;
    else {
      const stays = this.#staysInTheWay(step, found);
      const thenForce = stays && !isChmod && after.state.kind !== "absent" && before.state.kind !== "absent";
      if (!this.#mayOverride(step, { path, expected: after.state, found, stays, thenForce })) return;
    }
    if (isChmod) await this.#setMode(step, found);
    else await this.#restore(step, path, found);
  }

  /** Returns whether `force` cannot undo a step over what is found at its path. */
  #staysInTheWay({ kind, path, before, after }: RecordedStep, found: TreeState): boolean {
    if (kind === "chmod") return found.kind !== "file" && found.kind !== "dir";
    const wanted = before.state.kind;
    if (wanted === "dir") return found.kind !== "absent";
    if (found.kind !== "dir") return false;
    // A folder that a step has made is removed by it, and `#refuse` says what is in it.
    return (
      wanted !== "absent" || (after.state.kind !== "dir" && this.#options.tree.entryIn(path) !== undefined)
    );
  }

  async #setMode({ seq, path, before }: RecordedStep, found: TreeState): Promise<void> {
    const { mode } = before.state as Extract<RecordedState, { kind: "file" | "dir" }>;
    this.#note(path, found);
    if (this.#modes.has(path)) this.#modes.set(path, mode!);
    else await this.#options.tree.setMode(path, mode!);
    this.#passedOver.delete(path);
    this.#undone.get(seq)!.restored.push(path);
  }

  /** Restores a path to its state before a step. */
  async #restore(step: RecordedStep, path: string, found: TreeState): Promise<void> {
    const { before, seq } = step;
    if (before.state.kind === "absent") {
      await this.#remove(path, found);
      this.#undone.get(seq)!.removed.push(path);
      return;
    }
    if (found.kind === "dir") {
      this.#skip(step, path, "in-the-way");
      return;
    }
    if (found.kind === "absent" && this.#lacksFolder(step, path)) return;
    await this.#put(step, { path, state: before.state, found });
  }

  async #remove(path: string, found: TreeState): Promise<void> {
    this.#note(path, found);
    await this.#options.tree.remove(path);
    this.#passedOver.delete(path);
    this.#modes.delete(path);
  }

  async #put(step: RecordedStep, { path, state, found }: Restoring): Promise<void> {
    const { content } = this.#options;
    const tree = this.#treeFor(path);
    this.#note(path, found);
    if (state.kind === "file") {
      const bytes =
        state.content && (await content(step, { place: state.content, revision: state.revision }));
      if (bytes === undefined) {
        this.#skip(step, path, "unavailable");
        return;
      }
      await tree.putFile(path, bytes, state);
    } else if (state.kind === "symlink") await tree.putLink(path, Buffer.from(state.text, "base64"));
    else if (state.kind === "dir") await this.#makeFolder(path, state.mode ?? 0o777);
    this.#passedOver.delete(path);
    this.#undone.get(step.seq)!.restored.push(path);
  }

  /** Returns the tree for a path, which may lie in a folder that this undo has restored. */
  #treeFor(path: string): RestoredTree {
    const { tree } = this.#options;
    const folder = ancestorsOf(path).find((above) => this.#remade.has(above));
    if (folder === undefined) return tree;
    const inside = this.#remade.get(folder) ?? tree.inRemade(folder);
    this.#remade.set(folder, inside);
    return inside;
  }

  async #makeFolder(path: string, mode: number): Promise<void> {
    await this.#treeFor(path).makeFolder(path, mode | 0o700);
    this.#remade.set(path, undefined);
    if ((mode & 0o700) !== 0o700) this.#modes.set(path, mode);
  }

  async #undoRename(step: RecordedStep): Promise<void> {
    const { path, before, after, seq } = step;
    const from = step.from!;
    const identity = "identity" in after.state ? after.state.identity : undefined;
    const found = await this.#stateOf(path, identity);
    const isRespelled = this.#options.tree.isRespelling(path, from);
    const left = isRespelled ? absent : await this.#stateOf(from, identity);
    if (isAsRecorded(after.state, left, false) && isAsRecorded(before.state, found, false)) return;
    if (
      !isAsRecorded(after.state, found, false) &&
      !this.#mayOverride(step, { path, expected: after.state, found, stays: found.kind === "absent" })
    )
      return;
    const isInTheWay = left.kind !== "absent";
    if (isInTheWay && !this.#mayOverride(step, { path: from, expected: absent, found: left, stays: true }))
      return;
    if (left.kind !== "absent" || found.kind === "absent") {
      this.#skip(step, from, "in-the-way");
      return;
    }
    if (this.#lacksFolder(step, from)) return;
    this.#note(path, found);
    this.#note(from, isRespelled ? found : left);
    this.#ends.add(path).add(from);
    await this.#options.tree.move(path, from);
    if (identity !== undefined) this.#moved.set(from, identity);
    this.#modes = movedPaths(this.#modes, path, from);
    this.#passedOver = movedPaths(this.#passedOver, path, from);
    const record = this.#undone.get(seq)!;
    record.restored.push(from);
    if (before.state.kind === "absent") record.removed.push(path);
    else await this.#restore(step, path, { kind: "absent" });
  }

  /** Returns the state of a path. An entry with the identity `known` is not hashed. */
  async #stateOf(path: string, known?: string): Promise<TreeState> {
    const state = await this.#options.tree.stateInSlices(path, known);
    const mode = this.#modes.get(path);
    return mode !== undefined && state.kind === "dir" ? { kind: "dir", mode } : state;
  }

  #mayOverride(
    step: RecordedStep,
    { path, expected, found, stays, holds, below, thenForce }: Disagreement,
    by = this.#options.later.causeOf(path, { expected, found }, step.seq),
  ): boolean {
    // A change that `force` has passed over may have been moved here since.
    if (this.#passedOver.has(path)) return true;
    const { seq } = step;
    const isUnrecorded = by === undefined && this.#options.later.isUnrecorded(path, step);
    const cause = by === undefined ? { ...(isUnrecorded && { unrecorded: true as const }) } : { by };
    const conflict = {
      ...{ path, seq, expected: expected.kind, found: found.kind, ...cause },
      ...(stays && { stays: true as const }),
      ...(holds !== undefined && { holds }),
      ...(below !== undefined && { below }),
      ...(thenForce && { then_force: true as const }),
    };
    this.#conflicts.push(conflict);
    if (this.#options.force) this.#passedOver.set(path, conflict);
    else this.#blocked.add(path, "conflict");
    return this.#options.force;
  }

  /**
   * Handles a refusal by the tree itself: a folder that is not empty, or a path that has since been denied or
   * protected.
   */
  async #refuse(step: RecordedStep, refusal: Refusal): Promise<void> {
    const { path, after, seq } = step;
    const { reason } = refusal;
    const isProtected = reason === "protected" || reason === "out-of-scope";
    const { force } = this.#options;
    if (isProtected && force) this.#skip(step, path, "protected");
    else if (isProtected) throw reason === "protected" ? refuseJournal.undoProtected(path, seq) : refusal;
    else if (reason === "permission" && !force) throw refuseJournal.undoNotPermitted(path, seq);
    else {
      const { later, tree } = this.#options;
      const isFull = reason === "not-empty";
      const found = await this.#stateIfReached(path);
      const holds = isFull ? tree.entryIn(path) : undefined;
      // Once the conflict about that entry is gone, so is this one.
      if (holds !== undefined && !force && this.#blocked.reasonFor(holds) === "conflict") {
        this.#blocked.add(path, "conflict");
        return;
      }
      if (force) this.#skip(step, path, "in-the-way");
      if (reason === "permission" || (force && holds !== undefined && this.#blocked.hasOwn(holds))) return;
      this.#mayOverride(
        step,
        { path, expected: after.state, found, stays: true, ...(holds !== undefined && { holds }) },
        isFull ? later.causeInside(path, seq) : undefined,
      );
    }
  }

  async #stateIfReached(path: string): Promise<TreeState> {
    return await absentIfRefused(() => this.#stateOf(path, this.#moved.get(path)));
  }

  /** Skips a step with an end in a root that is gone. Throws its refusal unless `force` is given. */
  #skipInGoneRoot(step: RecordedStep): void {
    const { goneRoots = [], force } = this.#options;
    for (const path of [step.path, step.from ?? step.path]) {
      const root = goneRoots.find((name) => path.startsWith(`${name}/`));
      if (root === undefined) continue;
      if (!force) throw refuseJournal.undoInGoneRoot(path, root, step.seq);
      this.#skip(step, path, "root-gone");
    }
  }

  #skip({ seq }: RecordedStep, path: string, reason: SkipReason): void {
    this.#blocked.add(path, reason);
    const known = this.#skipped.get(seq) ?? new Set();
    this.#skipped.set(seq, known);
    if (!known.has(path)) this.#undone.get(seq)!.skipped.push({ path, reason });
    known.add(path);
  }
}

/** Returns a state, or that nothing is there if reading it is refused. */
async function absentIfRefused(read: () => TreeState | Promise<TreeState>): Promise<TreeState> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal) return absent;
    throw error;
  }
}

/** Returns the map with the paths at and below `from` moved to `to`. */
function movedPaths<T>(paths: Map<string, T>, from: string, to: string): Map<string, T> {
  const prefix = `${from}/`;
  const isMoved = (path: string) => path === from || path.startsWith(prefix);
  let isAny = false;
  for (const path of paths.keys()) isAny ||= isMoved(path);
  // Usually nothing is below, and there may be very many paths.
  if (!isAny) return paths;
  return new Map(
    [...paths].map(([path, value]) =>
      isMoved(path) ? [`${to}${path.slice(from.length)}`, value] : [path, value],
    ),
  );
}

/** A path, its state to restore, and its present one. */
interface Restoring {
  readonly path: string;
  readonly state: RecordedState;
  readonly found: TreeState;
}

/**
 * The paths that could not be restored, and the reasons. Earlier steps find other entries there and below.
 */
class BlockedPaths {
  readonly #reasons = new Map<string, { reason: SkipReason | "conflict"; readonly order: number }>();

  add(path: string, reason: SkipReason | "conflict"): void {
    const known = this.#reasons.get(path);
    if (known !== undefined) known.reason = reason;
    else this.#reasons.set(path, { reason, order: this.#reasons.size });
  }

  /** Returns whether this very path could not be restored. */
  hasOwn(path: string): boolean {
    return this.#reasons.has(path);
  }

  /** Returns the reason for the path, or for the folder above it that was blocked first. */
  reasonFor(path: string): SkipReason | "conflict" | undefined {
    let first = this.#reasons.get(path);
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const outer = this.#reasons.get(path.slice(0, slash));
      if (outer !== undefined && (first === undefined || outer.order < first.order)) first = outer;
    }
    return first?.reason;
  }
}

interface Disagreement extends Pick<UndoConflict, "holds" | "below"> {
  readonly path: string;
  readonly expected: RecordedState;
  readonly found: TreeState;
  /** Whether `force` leaves it as well. Default: false. */
  readonly stays?: boolean;
  readonly thenForce?: boolean;
}

function areSame(one: TreeState, other: TreeState): boolean {
  const areHashed =
    one.kind === "file" && other.kind === "file" && one.revision !== "" && other.revision !== "";
  if (areHashed) return one.mode === other.mode && one.revision === other.revision;
  return isDeepStrictEqual(one, other);
}
