/** The effects of recorded steps at one path, and the fate of a change there. */
import { ancestorsOf } from "../jail/backend.ts";
import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";

/** The states of a path before and after a step; `undefined` if unknown. */
export interface Effect {
  readonly before: RecordedState | undefined;
  readonly after: RecordedState | undefined;
  /** Whether the step changed permission bits only. */
  readonly isOfMode: boolean;
}

/** The effect of a step of a later record. */
export interface LaterEffect extends Effect {
  /** The number of the record. */
  readonly seq: number;
  readonly isUndo: boolean;
}

/** The fate of a change that is gone. */
export interface LaterHistory {
  /** The undo that took it back. */
  readonly undoneBy?: number;
  /** The undo that brought it back after that. Since then, something without a record has changed it. */
  readonly redoneBy?: number;
  /** The later call that changed it, if no undo did. With neither, something without a record did. */
  readonly by?: number;
}

const absent: RecordedState = { kind: "absent" };

/** Returns what a step did at a path, or `undefined` if nothing. */
export function effectAt(step: RecordedStep, at: string): Effect | undefined {
  const { path, from, before, after, kind, unavailable } = step;
  const isOfMode = kind === "chmod";
  if (unavailable !== undefined) return { before: undefined, after: undefined, isOfMode };
  if (at === path) return { before: before.state, after: after.state, isOfMode };
  if (at === from) return { before: after.state, after: absent, isOfMode };
  // A rename does not record what is in a folder.
  return kind === "rename" ? { before: undefined, after: undefined, isOfMode } : undefined;
}

/** Returns what the steps of one record did at a path together, or `undefined` if nothing, or unknown. */
export function netEffectAt(steps: readonly RecordedStep[], path: string): Effect | undefined {
  const effects = steps.flatMap((step) => effectAt(step, path) ?? []);
  const [before, after] = [effects[0]?.before, effects.at(-1)?.after];
  const isOfMode = effects.every((effect) => effect.isOfMode);
  const isKnown = before !== undefined && after !== undefined;
  return isKnown && !isAlike(before, after, isOfMode) ? { before, after, isOfMode } : undefined;
}

/** Returns whether the steps of several records together left a path unchanged. */
export function areCancelledAt(steps: readonly RecordedStep[], path: string): boolean {
  const effects = steps.flatMap((step) => effectAt(step, path) ?? []);
  const [before, after] = [effects[0]?.before, effects.at(-1)?.after];
  if (before === undefined || after === undefined) return false;
  const isOfMode = effects.every((effect) => effect.isOfMode);
  return new Set(steps.map(({ seq }) => seq)).size > 1 && isAlike(before, after, isOfMode);
}

/**
 * Returns whether both states are of one kind with one content, or, with `modeOnly`, with the same permission
 * bits.
 */
export function isAlike(one: RecordedState, other: RecordedState, modeOnly: boolean): boolean {
  if (one.kind === "file" && other.kind === "file")
    return modeOnly ? one.mode === other.mode : one.revision === other.revision;
  if (one.kind === "dir" && other.kind === "dir") return !modeOnly || one.mode === other.mode;
  if (one.kind === "symlink" && other.kind === "symlink") return one.text === other.text;
  return one.kind === "absent" && other.kind === "absent";
}

/**
 * Follows a change through the later effects at its path, in order, up to now, when its earlier state is
 * there again. Returns `undefined` if an effect is unknown.
 */
export function pastOf(own: Effect, effects: readonly LaterEffect[]): LaterHistory | undefined {
  const { before, after, isOfMode } = own;
  const isGone = (state: RecordedState) => isAlike(state, before!, isOfMode);
  /** The states that had the change. */
  const having = [after!];
  const hasChange = (state: RecordedState) => having.some((one) => isAlike(one, state, isOfMode));
  let left = after!;
  let past: LaterHistory | undefined;
  /** The undo and the redo that came last. */
  let redone: LaterHistory = {};
  const meet = (state: RecordedState, by: LaterEffect | undefined) => {
    if (past === undefined && isGone(state)) past = by === undefined ? redone : takenBackBy(by);
    else if (past === undefined) having.push(state);
    else if (hasChange(state)) {
      const isRedo = by?.isUndo === true && past.undoneBy !== undefined;
      redone = isRedo ? { undoneBy: past.undoneBy!, redoneBy: by.seq } : {};
      past = undefined;
    }
    left = state;
  };
  for (const effect of effects) {
    if (effect.isOfMode && !isOfMode) continue;
    if (effect.before === undefined || effect.after === undefined) return undefined;
    if (!isAlike(effect.before, left, isOfMode)) meet(effect.before, undefined);
    meet(effect.after, effect);
  }
  return past ?? redone;
}

const takenBackBy = ({ seq, isUndo }: LaterEffect): LaterHistory =>
  isUndo ? { undoneBy: seq } : { by: seq };

/** A step, and its index among all that were added. */
interface PlacedStep {
  readonly step: RecordedStep;
  readonly index: number;
}

/** Steps by path, in the order of their addition, so that looking up all paths takes linear time. */
export class StepsByPath {
  readonly #at = new Map<string, PlacedStep[]>();
  #count = 0;

  /** Adds steps, calling `pause` after each. */
  async add(steps: readonly RecordedStep[], pause: () => Promise<void>): Promise<void> {
    for (const step of steps) {
      const placed = { step, index: this.#count++ };
      for (const end of new Set([step.path, step.from ?? step.path])) {
        const known = this.#at.get(end);
        if (known === undefined) this.#at.set(end, [placed]);
        else known.push(placed);
      }
      await pause();
    }
  }

  /** Returns all paths at which a step begins or ends. */
  get paths(): Iterable<string> {
    return this.#at.keys();
  }

  /** Returns the steps that begin or end at this very path, in order. */
  endingAt(path: string): RecordedStep[] {
    return (this.#at.get(path) ?? []).map(({ step }) => step);
  }

  /** Returns the steps at a path or a folder above it, in order. */
  stepsAt(path: string): RecordedStep[] {
    const met = [...ancestorsOf(path), path].flatMap((at) => this.#at.get(at) ?? []);
    return [...new Set(met)].sort((one, other) => one.index - other.index).map(({ step }) => step);
  }

  /** Returns the last step that begins or ends at this very path. */
  lastEndingAt(path: string): RecordedStep | undefined {
    return this.#at.get(path)?.at(-1)?.step;
  }

  /** Returns the last step at a path or a folder above it. */
  lastAt(path: string): RecordedStep | undefined {
    let last: PlacedStep | undefined;
    for (const at of [...ancestorsOf(path), path]) {
      const one = this.#at.get(at)?.at(-1);
      if (one !== undefined && (last === undefined || one.index > last.index)) last = one;
    }
    return last?.step;
  }
}
