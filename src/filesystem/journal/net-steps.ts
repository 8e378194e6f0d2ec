/** The steps that remain of many without those that take each other back. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { RecordedStep } from "./read-record.ts";
import { Entangled, RemainingSteps } from "./remaining-steps.ts";
import { TracedSteps } from "./traced-steps.ts";

/** Steps that are followed without a pause. */
const atOnce = 128;

/** Maximum attempts to leave out changes. */
const maxAttempts = 8;

/**
 * Returns steps, which are in the order of time, without the changes that take each other back: an entry that
 * ends with the place and the state that it began with is in none of them, whatever names it had in between.
 * The paths of the others are those that their entries would have had then. Steps of one call that replace a
 * file repeatedly become one.
 */
export function* netSteps(steps: readonly RecordedStep[]): Steps<readonly RecordedStep[]> {
  if (!(yield* mayBeReduced(steps))) return steps;
  const entangled = new Set<string>();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const traced = new TracedSteps(entangled);
    for (const [index, step] of steps.entries()) {
      traced.add(step);
      if (index % atOnce === atOnce - 1) yield;
    }
    if (!traced.isReduced) return steps;
    try {
      return yield* new RemainingSteps(traced).list();
    } catch (error) {
      if (!(error instanceof Entangled)) throw error;
      const known = entangled.size;
      for (const { id } of error.entries) entangled.add(id);
      if (entangled.size === known) return steps;
    }
  }
  return steps;
}

/** Returns whether an entry may have been changed twice: a name comes again, or an entry gets another one. */
function* mayBeReduced(steps: readonly RecordedStep[]): Steps<boolean> {
  const met = new Set<string>();
  for (const [index, { path, from }] of steps.entries()) {
    if (from !== undefined || met.has(path)) return steps.length > 1;
    met.add(path);
    if (index % atOnce === atOnce - 1) yield;
  }
  return false;
}
