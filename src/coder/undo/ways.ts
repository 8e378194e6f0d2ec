/** Finds the calls that undo what a refused undo has left: each way is tried on a planned tree. */
import { Refusal } from "../../base/errors.ts";
import { ancestorsOf, namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { unservedRoots } from "../../filesystem/jail/roots.ts";
import { LaterRecords } from "../../filesystem/journal/later-records.ts";
import { contentOf, type JournalRecord, type RecordedStep } from "../../filesystem/journal/read-record.ts";
import { type UndoConflict, type UndoOutcome, undoRecords } from "../../filesystem/journal/undo-records.ts";
import type { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import { Restoration } from "../../filesystem/overlay/restore.ts";
import { baseTree } from "../checkpoints/base-tree.ts";
import { endsOf, isShown, levelsOf } from "../checkpoints/recorded-paths.ts";
import { requireJournal } from "../checkpoints/require-journal.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { isAllSkipped, isChanging, type UndoCall, type UndoWay } from "./answer.ts";
import type { CheckpointChoice, Chosen } from "./choice.ts";
import { missingFolders, pathsInTheWay } from "./preparation.ts";

/** An undo that has changed nothing because of conflicts. */
export interface RefusedUndo {
  readonly chosen: Chosen;
  readonly selects: (step: RecordedStep) => boolean;
  readonly isNeeded: (step: RecordedStep) => boolean;
  readonly which: CheckpointChoice;
  readonly conflicts: readonly UndoConflict[];
  /** The later records that were read, newest first. */
  readonly after: readonly JournalRecord[];
}

/** Maximum calls of one way. */
const maxCalls = 10;

/** Maximum steps that are undone on planned trees. As many take some two seconds. */
const maxTriedSteps = 20_000;

/** Returns the ways to undo it, each a list of calls, or none if no calls are known that do. */
export async function waysToUndo(refused: RefusedUndo, context: CoderContext): Promise<UndoWay[]> {
  try {
    const trying = new Trying(refused, context);
    const ways = [await trying.undoingLater(), await trying.forcing()].filter((way) => way !== undefined);
    return ways.length > 0 ? ways : [await trying.preparing()].filter((way) => way !== undefined);
  } catch (error) {
    // The refusal is useful without them.
    if (error instanceof Refusal) return [];
    throw error;
  }
}

/** One call of a way that is tried. */
interface TriedCall {
  readonly records: readonly JournalRecord[];
  readonly force: boolean;
  /** Whether it undoes what the caller wanted. */
  readonly isWanted: boolean;
}

/** The end of a try: the calls that have an effect, or the first call that is refused. */
type Tried =
  | { readonly calls: readonly TriedCall[] }
  | { readonly failed: TriedCall; conflicts: UndoConflict[] };

class Trying {
  readonly #refused: RefusedUndo;
  readonly #context: CoderContext;
  readonly #pause: () => Promise<void>;
  /** The later records that were not to be undone, newest first. */
  readonly #after: readonly JournalRecord[];
  /** The number of steps that may still be tried. */
  #left = maxTriedSteps;

  constructor(refused: RefusedUndo, context: CoderContext) {
    this.#refused = refused;
    this.#context = context;
    this.#pause = pauseOf(context);
    this.#after = refused.after.filter(({ seq }) => refused.chosen.records.every((one) => one.seq !== seq));
  }

  /** Returns the way that undoes later checkpoints first. */
  async undoingLater(): Promise<UndoWay | undefined> {
    const { conflicts } = this.#refused;
    const after = this.#after;
    const causes = new Set(conflicts.flatMap(({ by }) => by ?? []));
    let first = after.filter(({ seq }) => causes.has(seq));
    while (first.length > 0 && first.length + this.#wanted(false).length <= maxCalls) {
      const tried = await this.#tryAfter(first);
      if ("calls" in tried) return this.#wayOf(await this.#withoutNeedless(first, tried.calls));
      const next = await this.#causeOf(tried.failed, tried.conflicts, first);
      if (next === undefined) return undefined;
      first = after.filter((record) => record === next || first.includes(record));
    }
    return undefined;
  }

  #tryAfter(first: readonly JournalRecord[]): Promise<Tried> {
    const before = first.map((record) => ({ records: [record], force: false, isWanted: false }));
    const calls: TriedCall[] = [...before, ...this.#wanted(false)];
    return this.#try(calls.sort(({ records: [one] }, { records: [other] }) => other!.seq - one!.seq));
  }

  /** Leaves out the checkpoints that need not be undone, the oldest first. */
  async #withoutNeedless(
    first: readonly JournalRecord[],
    calls: readonly TriedCall[],
  ): Promise<readonly TriedCall[]> {
    let [needed, found] = [first, calls];
    for (const record of first.toReversed()) {
      const fewer = needed.filter((one) => one !== record);
      const tried = await this.#tryAfter(fewer);
      if ("calls" in tried) [needed, found] = [fewer, tried.calls];
    }
    return found;
  }

  /** Returns the newest checkpoint that may have caused conflicts of one before it. */
  async #causeOf(
    { records: [failed] }: TriedCall,
    conflicts: readonly UndoConflict[],
    first: readonly JournalRecord[],
  ): Promise<JournalRecord | undefined> {
    const paths = new Set<string>();
    const levels = new Set<string>();
    for (const { path, holds, below } of conflicts) {
      for (const one of [path, holds ?? path, below ?? path]) {
        paths.add(one);
        for (const level of levelsOf(one)) levels.add(level);
      }
      await this.#pause();
    }
    const meets = (step: RecordedStep) =>
      isShown(step, this.#context.jail) &&
      endsOf(step).some((end) => levels.has(end) || [...levelsOf(end)].some((level) => paths.has(level)));
    for (const record of paths.size === 0 ? [] : this.#after) {
      if (record.seq <= failed!.seq || first.includes(record)) continue;
      for (const step of record.steps) {
        if (meets(step)) return record;
        await this.#pause();
      }
    }
    return undefined;
  }

  /** Returns the way that undoes over all conflicts. */
  async forcing(): Promise<UndoWay | undefined> {
    const { chosen, which } = this.#refused;
    const tried = await this.#try([{ records: chosen.records, force: true, isWanted: true }]);
    if (!("calls" in tried)) return undefined;
    return chosen.records.length === 1
      ? this.#wayOf(tried.calls)
      : { calls: [{ ...sentChoice(which), force: true }] };
  }

  /** Returns the way after what is in the way is moved, and missing folders are made, one by one. */
  async preparing(): Promise<UndoWay | undefined> {
    const { chosen, conflicts } = this.#refused;
    if (chosen.records.length > maxCalls) return undefined;
    const isPrepared = pathsInTheWay(conflicts).length + missingFolders(conflicts).length > 0;
    for (const force of [false, true]) {
      const tried = await this.#try(this.#wanted(force), (tree) => this.#prepare(tree));
      if ("calls" in tried)
        return { ...(isPrepared && { prepare: true as const }), ...this.#wayOf(tried.calls) };
    }
    return undefined;
  }

  async #prepare(tree: PlannedTree): Promise<void> {
    const { conflicts } = this.#refused;
    const restoration = new Restoration(tree, this.#context);
    for (const path of pathsInTheWay(conflicts))
      await restoration.move(path, freeName(path, restoration, this.#context.jail));
    for (const folder of missingFolders(conflicts))
      for (const one of [...ancestorsOf(folder), folder])
        if (restoration.state(one).kind === "absent") await restoration.makeFolder(one, 0o755);
  }

  /** Returns the calls for what was wanted, by the numbers of the checkpoints. */
  #wanted(force: boolean): TriedCall[] {
    return this.#refused.chosen.records.map((record) => ({ records: [record], force, isWanted: true }));
  }

  async #try(calls: readonly TriedCall[], prepare?: (tree: PlannedTree) => Promise<void>): Promise<Tried> {
    const count = calls.flatMap(({ records }) => records).reduce((sum, { steps }) => sum + steps.length, 0);
    if (count > this.#left) return { failed: calls.at(-1)!, conflicts: [] };
    this.#left -= count;
    const tree = baseTree(this.#context);
    const effective: TriedCall[] = [];
    for (const call of calls) {
      let outcome: UndoOutcome = { undone: [], conflicts: [] };
      try {
        if (call === calls[0]) await prepare?.(tree);
        outcome = await this.#undo(tree, call);
      } catch (error) {
        if (!(error instanceof Refusal) || error.ending !== undefined) throw error;
        return { failed: call, conflicts: [] };
      }
      if (!isCarriedOut(outcome, call.force)) return { failed: call, conflicts: [...outcome.conflicts] };
      if (outcome.undone.some(isChanging)) effective.push(call);
    }
    // A later undo may have left the state before what was wanted, so that undoing it changes nothing.
    const isUndone = effective.length > 0 && (calls.length > 1 || effective[0]!.isWanted);
    return isUndone ? { calls: effective } : { failed: calls.at(-1)!, conflicts: [] };
  }

  async #undo(tree: PlannedTree, { records, force, isWanted }: TriedCall): Promise<UndoOutcome> {
    const { jail } = this.#context;
    const pause = this.#pause;
    const isVisible = (step: RecordedStep) => isShown(step, jail);
    return await undoRecords({
      tree: new Restoration(tree, this.#context),
      records,
      selects: isWanted ? this.#refused.selects : isVisible,
      ...(isWanted && { isNeeded: this.#refused.isNeeded }),
      force,
      content: (step, kept) => contentOf(requireJournal(this.#context), step, kept, pause),
      later: await LaterRecords.of([], { after: 0, isShown: isVisible, pause }),
      goneRoots: unservedRoots(jail),
      pause,
    });
  }

  #wayOf(calls: readonly TriedCall[]): UndoWay {
    return { calls: calls.map((call) => this.#callOf(call)) };
  }

  #callOf({ records: [record], force, isWanted }: TriedCall): UndoCall {
    const { chosen } = this.#refused;
    const { paths } = this.#refused.which;
    const { seq } = record!;
    const met = chosen.met?.get(seq);
    const named = paths && [...paths].flatMap(([sent, path]) => (met?.has(path) === false ? [] : sent));
    return {
      seq,
      ...(isWanted && named !== undefined && { paths: named }),
      ...(force && { force: true as const }),
    };
  }
}

/** Returns the fields of a request that choose checkpoints. */
function sentChoice({ author, paths, seq, steps, transaction }: CheckpointChoice): UndoCall {
  return {
    ...(author !== undefined && { author }),
    ...(paths !== undefined && { paths: [...paths.keys()] }),
    ...(seq !== undefined && { seq }),
    ...(steps !== undefined && { steps }),
    ...(transaction !== undefined && { transaction }),
  };
}

/** Returns whether a call undoes all that it can. */
function isCarriedOut({ undone, conflicts }: UndoOutcome, force: boolean): boolean {
  if (!force) return conflicts.length === 0 && !isAllSkipped(undone);
  const isLeft = undone.some(({ skipped }) => skipped.some(({ reason }) => reason === "in-the-way"));
  return !isLeft && !conflicts.some(({ stays }) => stays);
}

/** Returns a name outside of all folders of a path at which nothing is. */
function freeName(path: string, tree: Restoration, { hasTop }: Jail): string {
  const outermost = namesOf(path)
    .slice(0, hasTop ? 2 : 1)
    .join("/");
  for (let number = 1; ; number++) {
    const free = `${outermost}.aside-${number}`;
    if (tree.state(free).kind === "absent") return free;
  }
}
