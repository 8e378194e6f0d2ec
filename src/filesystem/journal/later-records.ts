import { ancestorsOf } from "../jail/backend.ts";
import type { RecordedState } from "./frame.ts";
import { isAsRecorded } from "./is-as-recorded.ts";
import { netSteps } from "./net-steps.ts";
import { inPauses, type JournalRecord, type RecordedStep, stepsOf } from "./read-record.ts";
import type { TreeState } from "./restored-tree.ts";
import {
  effectAt,
  type LaterEffect,
  type LaterHistory,
  netEffectAt,
  pastOf,
  StepsByPath,
} from "./step-effects.ts";

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

/** The records after those of an undo, by path. */
export class LaterRecords {
  readonly #steps = new StepsByPath();
  /** The numbers of the records that undos have made. */
  readonly #undos = new Set<number>();
  /** The last step that has left something in each folder. */
  readonly #lastInside = new Map<string, RecordedStep>();
  readonly #isCut: boolean;

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
    const end = newestFirst.findIndex(({ seq }) => seq <= after);
    const records = (end === -1 ? newestFirst : newestFirst.slice(0, end)).toReversed();
    const shown: (readonly RecordedStep[])[] = [];
    for (const record of records) {
      if (record.function_id === "coder::undo") later.#undos.add(record.seq);
      const steps = await inPauses(netSteps(await stepsOf(record, isShown, pause)), pause);
      await later.#steps.add(steps, pause);
      shown.push(steps);
    }
    for (const steps of shown) await later.#addInside(steps, pause);
    return later;
  }

  /** Adds steps, in order, to the last ones in the folders above them. */
  async #addInside(steps: readonly RecordedStep[], pause: () => Promise<void>): Promise<void> {
    for (const step of steps) {
      const { path, after } = step;
      const isLast = this.#steps.lastEndingAt(path) === step;
      if (isLast && after.state.kind !== "absent")
        for (const folder of ancestorsOf(path)) this.#lastInside.set(folder, step);
      await pause();
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
    const last = this.#steps.stepsAt(path).findLast((step) => this.#reaches(step, path));
    if (last === undefined || last.seq <= seq) return undefined;
    if (!hasLeft(last, path, found)) return undefined;
    if (isInPlaceOfFolder(last, path)) return last.seq;
    // An undo and a redo bring back what an earlier checkpoint left: undoing that one undoes the content.
    const first = this.#stepsOf(path).find(
      (step) => step.seq > seq && step.unavailable === undefined && isLeftBy(step, found),
    );
    return (first ?? last).seq;
  }

  /**
   * Returns whether a step may have changed what is at a path. Below its own paths, only a folder that it
   * moved or took away had anything, and an entry that is not a folder leaves room for nothing.
   */
  #reaches(step: RecordedStep, wanted: string): boolean {
    const { path, from, before, after, kind, unavailable } = step;
    if (unavailable !== undefined || wanted === path || wanted === from) return true;
    if (before.state.kind === "dir" || (kind === "rename" && after.state.kind === "dir")) return true;
    return isInPlaceOfFolder(step, wanted) && this.#steps.lastEndingAt(path) === step;
  }

  /** Returns whether one of the checkpoints after `seq` found a content that the one before had not left. */
  #metOther(path: string, expected: RecordedState, seq: number): boolean {
    let left: RecordedState | undefined = this.#isCut ? undefined : expected;
    for (const { before, after, kind, ...step } of this.#stepsOf(path)) {
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
    const effects = this.#steps.stepsAt(path).flatMap((step): LaterEffect[] => {
      const effect = step.seq <= seq ? undefined : effectAt(step, path);
      return effect === undefined ? [] : [{ ...effect, seq: step.seq, isUndo: this.#undos.has(step.seq) }];
    });
    return pastOf(own, effects);
  }

  /** Returns the steps whose entry has this very path afterwards, in order. */
  #stepsOf(path: string): RecordedStep[] {
    return this.#steps.endingAt(path).filter((step) => step.path === path);
  }
}

/** Returns whether a step left something above a path that is not a folder. */
const isInPlaceOfFolder = ({ path, after }: Pick<RecordedStep, "path" | "after">, below: string): boolean =>
  below.startsWith(`${path}/`) && after.state.kind !== "dir" && after.state.kind !== "absent";

/** Returns whether what is found at a path may be what a step at it, or at a folder above it, has left. */
function hasLeft({ path, after, unavailable }: RecordedStep, wanted: string, found: TreeState): boolean {
  // The record does not have what the step left.
  if (unavailable !== undefined) return true;
  if (wanted === path) return isAsRecorded(after.state, found, false);
  return found.kind === "absent" || wanted.startsWith(`${path}/`);
}

const isLeftBy = ({ after, kind }: RecordedStep, found: TreeState): boolean =>
  kind !== "chmod" && isAsRecorded(after.state, found, false);

/** Returns whether both are files whose contents are known and differ. */
const haveOtherContents = (one: RecordedState, other: RecordedState): boolean =>
  one.kind === "file" &&
  other.kind === "file" &&
  one.revision !== "" &&
  other.revision !== "" &&
  one.revision !== other.revision;
