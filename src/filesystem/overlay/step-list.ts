import type { Expected, Staged, Step } from "../disk/steps.ts";

/** A step without the change that it belongs to. */
export type NewStep = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "change"> : never) : never;

interface ListedStep {
  readonly step: Step;
  /** The steps that fill the placed folder, unless it is placed as a whole. */
  filling: readonly ListedStep[];
}

/** The steps of the changes so far, in order. */
export class StepList {
  /** The index of the change that steps are added for. */
  change = 0;
  readonly #listed: ListedStep[] = [];
  /** The placing steps, by the staged entry that they were added with. */
  readonly #placing = new Map<Staged, ListedStep>();
  /** The replacements of staged entries, by the entry that was added first. */
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
   * Stages another entry instead, since a later change affects one that an earlier change creates, and no
   * process sees the state in between.
   */
  replace(old: Staged, now: Staged): void {
    const added = this.#added.get(old) ?? old;
    this.#now.set(added, now);
    this.#added.set(now, added);
  }

  /** Returns the path at which an entry is placed. */
  pathOf(staged: Staged): string {
    return (this.#placingOf(staged).step as Extract<Step, { kind: "place" }>).path;
  }

  /** Stages an empty folder instead, which `steps` then fill. */
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
