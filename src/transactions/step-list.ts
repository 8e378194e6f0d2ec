import type { Expected, Staged, Step } from "./steps.ts";

/** A step without the change that it belongs to. */
export type NewStep = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "change"> : never) : never;

/** The steps of the changes so far, in order. */
export class StepList {
  /** The index of the change that steps are added for. */
  change = 0;
  #steps: Step[] = [];

  get steps(): readonly Step[] {
    return this.#steps;
  }

  add(...steps: readonly NewStep[]): void {
    for (const step of steps) this.#steps.push({ ...step, change: this.change } as Step);
  }

  /** Stages something else instead: a later change is of what an earlier one makes, and no process sees it in between. */
  replace(old: Staged, now: Staged): void {
    this.#steps = this.#steps.map((step) => restage(step, old, now));
  }

  /** The path at which something is placed. */
  pathOf(staged: Staged): string {
    return this.#placing(staged).path;
  }

  /** Stages a folder instead, and then what is in it by `steps`. */
  expand(
    old: Staged,
    { staged, steps }: { readonly staged: Staged; readonly steps: readonly NewStep[] },
  ): void {
    const placing = this.#placing(old);
    const at = this.#steps.indexOf(placing);
    this.replace(old, staged);
    this.#steps.splice(at + 1, 0, ...steps.map((step) => ({ ...step, change: placing.change }) as Step));
  }

  #placing(staged: Staged): Extract<Step, { kind: "place" }> {
    const step = this.#steps.find((step) => step.kind === "place" && step.staged === staged);
    if (step?.kind !== "place") throw new Error("a folder was to be expanded that no step places");
    return step;
  }
}

function restage(step: Step, old: Staged, now: Staged): Step {
  if ((step.kind === "place" || step.kind === "exchange") && step.staged === old)
    return restage({ ...step, staged: now } as Step, old, now);
  if ("expected" in step && stagedBy(step.expected) === old) return { ...step, expected: { staged: now } };
  return step;
}

const stagedBy = (expected: Expected): Staged | undefined =>
  "staged" in expected ? expected.staged : undefined;
