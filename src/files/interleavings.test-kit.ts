/** Runs programs in every order that their steps can have, for tests. */

/** Makes steps in the world, and answers what came of each. */
export interface AtomicStep<World> {
  /** One that throws `blocked` is made later: it must not have changed anything. */
  <T>(act: (world: World) => T): T;
  /** One that no other program notices, nor the other way round: it is made together with the step before it. */
  alone<T>(act: (world: World) => T): T;
}

/** Does the same whenever its steps come to the same, and changes nothing but in steps. */
export type SteppedProgram<World> = (step: AtomicStep<World>) => void;

export const blocked = Symbol("blocked");

type Outcome = { readonly value: unknown } | { readonly error: unknown };

interface State<World> {
  readonly world: World;
  /** What the steps of each program came to so far. */
  readonly pasts: readonly (readonly Outcome[])[];
}

const mostSteps = 100;

/**
 * The worlds in which all programs have ended, or none can go on, those first that take the fewest steps. Throws when programs
 * run in circles. A program has no state that could be kept: each of its
 * steps runs it again from its beginning.
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
      if (next.pasts.some(({ length }) => length > mostSteps)) throw new Error("the programs run in circles");
      seen.add(key);
      states.push(next);
    }
  }
}

const keyOf = ({ world, pasts }: State<unknown>): string =>
  JSON.stringify([world, pasts], (_, value) => (value instanceof Error ? String(value) : value));

/** The state after the next step of a program; none when it has ended or cannot go on. */
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
    // What catches this comes here again with its next step.
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
