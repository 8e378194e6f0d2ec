import type { Expected, Staged, Step } from "../disk/steps.ts";

/** A step without the change that it belongs to. */
export type NewStep = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "change"> : never) : never;

interface ListedStep {
  readonly step: Step;
  /** The steps that fill the folder that it places, once it is no longer placed as a whole. */
  filling: readonly ListedStep[];
}

/** The steps of the changes so far, in order. */
export class StepList {
  /** The index of the change that steps are added for. */
  change = 0;
  readonly #listed: ListedStep[] = [];
  /** The steps that place something, by what they were added with. */
  readonly #placing = new Map<Staged, ListedStep>();
  /** What is staged instead of something, and what that was added as. */
  readonly #now = new Map<Staged, Staged>();
  readonly #added = new Map<Staged, Staged>();

  get steps(): readonly Step[] {
    const steps: Step[] = [];
    const waiting = this.#listed.toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      steps.push(this.#restaged(next.step));
      for (const inner of next.filling.toReversed()) waiting.push(inner);
    }
    return steps;
  }

  add(step: NewStep): void {
    this.addAll([step]);
  }

  addAll(steps: readonly NewStep[]): void {
    for (const step of steps) this.#listed.push(this.#list(step, this.change));
  }

  #list(added: NewStep, change: number): ListedStep {
    const step = { ...added, change } as Step;
    const listed: ListedStep = { step, filling: [] };
    if (step.kind === "place") this.#placing.set(step.staged, listed);
    return listed;
  }

  /**
   * Stages something else instead: a later change is of what an earlier one makes, and no process sees it in
   * between.
   */
  replace(old: Staged, now: Staged): void {
    const added = this.#added.get(old) ?? old;
    this.#now.set(added, now);
    this.#added.set(now, added);
  }

  /** The path at which something is placed. */
  pathOf(staged: Staged): string {
    return (this.#placingOf(staged).step as Extract<Step, { kind: "place" }>).path;
  }

  /** Stages a folder instead, and then what is in it by `steps`. */
  expand(
    old: Staged,
    { staged, steps }: { readonly staged: Staged; readonly steps: readonly NewStep[] },
  ): void {
    const placing = this.#placingOf(old);
    this.replace(old, staged);
    placing.filling = steps.map((step) => this.#list(step, placing.step.change));
  }

  #placingOf(staged: Staged): ListedStep {
    const placing = this.#placing.get(this.#added.get(staged) ?? staged);
    if (placing === undefined) throw new Error("a folder was to be expanded that no step places");
    return placing;
  }

  #restaged(step: Step): Step {
    const staged = "staged" in step ? this.#now.get(step.staged) : undefined;
    const made = "expected" in step ? stagedBy(step.expected) : undefined;
    const madeNow = made && this.#now.get(this.#added.get(made) ?? made);
    if (staged === undefined && madeNow === undefined) return step;
    return {
      ...step,
      ...(staged && { staged }),
      ...(madeNow && { expected: { staged: madeNow } }),
    } as Step;
  }
}

const stagedBy = (expected: Expected): Staged | undefined =>
  "staged" in expected ? expected.staged : undefined;
