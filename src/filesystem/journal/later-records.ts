import type { RecordedState } from "./frame.ts";
import { isAsRecorded } from "./is-as-recorded.ts";
import type { JournalRecord, RecordedStep } from "./read-record.ts";
import type { TreeState } from "./restored-tree.ts";
import { effectAt, type LaterEffect, type LaterHistory, netEffectAt, pastOf } from "./step-effects.ts";

export interface LaterRecordsOptions {
  /** The number of the oldest checkpoint that is undone: only records after it count. */
  readonly after: number;
  /** Whether older ones of the records after `after` are missing. Default: none are. */
  readonly isCut?: boolean;
  /** Whether the call may know of a step. */
  readonly isShown: (step: RecordedStep) => boolean;
  /**
   * Returns whether a call that has no record changed something at, above or below a path after a time, in
   * microseconds since 1970. Default: none did.
   */
  readonly isUnrecorded?: (path: string, time: number) => boolean;
  /** Lets other calls run. Called after each step. */
  readonly pause: () => Promise<void>;
}

/** A step, and its rank: later ones have higher ranks. */
interface RankedStep {
  readonly step: RecordedStep;
  readonly rank: number;
  /** Whether an undo made it. */
  readonly isUndo: boolean;
}

/** The records after those of an undo, by path. */
export class LaterRecords {
  /** The last step at each path that begins or ends there. */
  readonly #lastAt = new Map<string, RankedStep>();
  /** The steps at each path, the newest first. */
  readonly #stepsAt = new Map<string, RecordedStep[]>();
  /** The last step that has left something in each folder. */
  readonly #lastInside = new Map<string, RecordedStep>();
  /** All steps that begin or end at each path, the newest first. */
  readonly #endsAt = new Map<string, RankedStep[]>();
  readonly #isCut: boolean;
  /** The states that a step has left in a folder, by their paths from the base. */
  readonly #inside = new WeakMap<RecordedStep, ReadonlyMap<string, RecordedStep["after"]["state"]>>();

  /** Returns whether a call without a record changed something at a path after a step. */
  readonly isUnrecorded: (path: string, step: RecordedStep) => boolean;

  private constructor({ isUnrecorded = () => false, isCut = false }: LaterRecordsOptions) {
    this.isUnrecorded = (path, { at }) => isUnrecorded(path, at);
    this.#isCut = isCut;
  }

  /** Indexes the records that `newestFirst` begins with. */
  static async of(
    newestFirst: readonly JournalRecord[],
    options: LaterRecordsOptions,
  ): Promise<LaterRecords> {
    const { after, isShown, pause } = options;
    const later = new LaterRecords(options);
    let rank = 0;
    for (const record of newestFirst) {
      if (record.seq <= after) break;
      for (const step of record.steps.toReversed()) {
        if (isShown(step)) later.#add({ step, rank: rank--, isUndo: record.function_id === "coder::undo" });
        await pause();
      }
    }
    return later;
  }

  #add(ranked: RankedStep): void {
    const { step } = ranked;
    const { path, from = path } = step;
    if (!this.#lastAt.has(path) && step.after.state.kind !== "absent")
      for (const folder of [...withOuter(path)].slice(1))
        if (!this.#lastInside.has(folder)) this.#lastInside.set(folder, step);
    addTo(this.#stepsAt, path, step);
    for (const end of new Set([path, from])) {
      if (!this.#lastAt.has(end)) this.#lastAt.set(end, ranked);
      addTo(this.#endsAt, end, ranked);
    }
  }

  /**
   * Returns the checkpoint after `seq` that left `found` at a path, or `undefined` if another program did, or
   * changed the file between two of them: undoing the later ones would not bring back `expected`, which `seq`
   * left.
   */
  causeOf(
    path: string,
    { expected, found }: { readonly expected: RecordedState; readonly found: TreeState },
    seq: number,
  ): number | undefined {
    if (this.#metOther(path, expected, seq)) return undefined;
    let last: RankedStep | undefined;
    for (const at of withOuter(path)) {
      const one = this.#lastAt.get(at);
      if (one !== undefined && (last === undefined || one.rank > last.rank)) last = one;
    }
    if (last === undefined || last.step.seq <= seq) return undefined;
    if (!this.#hasLeft(last.step, path, found)) return undefined;
    // An undo and a redo bring back what an earlier checkpoint left: undoing that one undoes the content.
    const first = this.#stepsAt
      .get(path)
      ?.findLast((step) => step.seq > seq && step.unavailable === undefined && isLeftBy(step, found));
    return (first ?? last.step).seq;
  }

  /** Returns whether one of the checkpoints after `seq` found a content that the one before had not left. */
  #metOther(path: string, expected: RecordedState, seq: number): boolean {
    let left: RecordedState | undefined = this.#isCut ? undefined : expected;
    for (const { before, after, kind, ...step } of this.#stepsAt.get(path)?.toReversed() ?? []) {
      if (step.seq <= seq || kind === "chmod") continue;
      if (step.unavailable !== undefined) return false;
      if (left !== undefined && haveOtherContents(left, before.state)) return true;
      left = after.state;
    }
    return false;
  }

  /** Returns the newest checkpoint after `seq` that has left something in a folder. */
  causeInside(folder: string, seq: number): number | undefined {
    const last = this.#lastInside.get(folder);
    return last !== undefined && last.seq > seq ? last.seq : undefined;
  }

  /**
   * Returns the fate of the change that these steps of checkpoint `seq` made at a path where its earlier
   * state is there again. Returns `undefined` if that is unknown, or they have changed nothing there.
   */
  historyOf(path: string, steps: readonly RecordedStep[], seq: number): LaterHistory | undefined {
    const own = netEffectAt(steps, path);
    if (own === undefined || this.#isCut) return undefined;
    const ranked = [...withOuter(path)].flatMap((at) => this.#endsAt.get(at) ?? []);
    const effects = [...new Set(ranked)]
      .sort((one, other) => one.rank - other.rank)
      .flatMap(({ step, isUndo }): LaterEffect[] => {
        const effect = step.seq <= seq ? undefined : effectAt(step, path);
        return effect === undefined ? [] : [{ ...effect, seq: step.seq, isUndo }];
      });
    return pastOf(own, effects);
  }

  #hasLeft(step: RecordedStep, wanted: string, found: TreeState): boolean {
    const { path, after, unavailable } = step;
    // The record does not have what the step left.
    if (unavailable !== undefined) return true;
    if (wanted === path) return isAsRecorded(after.state, found, false);
    const inside = this.#statesIn(step).get(wanted);
    return inside === undefined
      ? found.kind === "absent" || wanted.startsWith(`${path}/`)
      : isAsRecorded(inside, found, false);
  }

  #statesIn(step: RecordedStep): ReadonlyMap<string, RecordedStep["after"]["state"]> {
    const known = this.#inside.get(step);
    if (known !== undefined) return known;
    const states = new Map(step.after.inside?.map(([below, state]) => [`${step.path}/${below}`, state]));
    this.#inside.set(step, states);
    return states;
  }
}

const isLeftBy = ({ after, kind }: RecordedStep, found: TreeState): boolean =>
  kind !== "chmod" && isAsRecorded(after.state, found, false);

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Returns whether both are files whose contents are known and differ. */
const haveOtherContents = (one: RecordedState, other: RecordedState): boolean =>
  one.kind === "file" &&
  other.kind === "file" &&
  one.revision !== "" &&
  other.revision !== "" &&
  one.revision !== other.revision;

/** Yields a path, and those of the folders above it. */
function* withOuter(path: string): Generator<string, void, void> {
  yield path;
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
    yield path.slice(0, slash);
}
