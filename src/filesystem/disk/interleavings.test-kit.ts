/** Runs programs in every order of their steps, for tests. */

/** Makes steps in the world, and returns the result of each. */
export interface AtomicStep<World> {
  /** Makes a step. One that throws `blocked` is retried later, and must not have changed anything. */
  <T>(act: (world: World) => T): T;
  /** Makes a step that neither affects nor depends on other programs, together with the step before it. */
  alone<T>(act: (world: World) => T): T;
}

/**
 * A program that behaves the same whenever its steps have the same results, and changes things only in steps.
 */
export type SteppedProgram<World> = (step: AtomicStep<World>) => void;

export const blocked = Symbol("blocked");

type Outcome = { readonly value: unknown } | { readonly error: unknown };

interface State<World> {
  readonly world: World;
  /** The results of each program's steps so far. */
  readonly pasts: readonly (readonly Outcome[])[];
}

const maxSteps = 100;

/**
 * Yields the worlds in which all programs have ended, or none can continue, those with the fewest steps
 * first. Throws if programs run in circles. A program has no state of its own: each of its steps runs it
 * again from its beginning.
 */
export function* worldsAfter<World>(
  initial: World,
  programs: readonly SteppedProgram<World>[],
): Generator<World> {
  const seen = new Set<string>();
  const states: State<World>[] = [{ world: initial, pasts: programs.map(() => []) }];
  for (const state of states) {
    const nexts = programs.flatMap((program, index) => stepOf(state, program, index));
    if (nexts.length === 0) yield state.world;
    for (const next of nexts) {
      const key = keyOf(next);
      if (seen.has(key)) continue;
      if (next.pasts.some(({ length }) => length > maxSteps)) throw new Error("the programs run in circles");
      seen.add(key);
      states.push(next);
    }
  }
}

const keyOf = ({ world, pasts }: State<unknown>): string =>
  JSON.stringify([world, pasts], (_, value) => (value instanceof Error ? String(value) : value));

/** Returns the state after the next step of a program, or none if it has ended or is blocked. */
function stepOf<World>(state: State<World>, program: SteppedProgram<World>, index: number): State<World>[] {
  const past = state.pasts[index]!;
  const world = structuredClone(state.world);
  const outcomes = [...past];
  let at = 0;
  let isMade = false;
  let isPaused = false;
  const make = <T>(act: (world: World) => T, isAlone: boolean): T => {
    const known = outcomes[at++];
    if (known !== undefined) return resultOf<T>(known);
    isPaused ||= isMade && !isAlone;
    const outcome = isPaused ? "blocked" : outcomeOf(() => act(world));
    isPaused ||= outcome === "blocked";
    // A program that catches this comes here again with its next step.
    if (outcome === "blocked") throw new Error("the program goes on later");
    isMade ||= !isAlone;
    outcomes.push(outcome);
    return resultOf(outcome);
  };
  const alone = <T>(act: (world: World) => T) => make(act, true);
  const step: AtomicStep<World> = Object.assign(<T>(act: (world: World) => T) => make(act, false), { alone });
  try {
    program(step);
  } catch (error) {
    if (!isPaused) throw error;
  }
  return isMade ? [{ world, pasts: state.pasts.with(index, outcomes) }] : [];
}

function outcomeOf(act: () => unknown): Outcome | "blocked" {
  try {
    return { value: act() };
  } catch (error) {
    return error === blocked ? "blocked" : { error };
  }
}

function resultOf<T>(outcome: Outcome): T {
  if ("error" in outcome) throw outcome.error;
  return outcome.value as T;
}
