/**
 * The steps of the writer of a storm. The number of finished steps determines the content of the disk, except
 * for the changes of the step under way.
 */

/** A step. Paths are relative to the base, and a text is the whole content of the file afterwards. */
export type StormStep =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly isFolder?: boolean };

export interface StormPlan {
  readonly files: number;
  readonly rounds: number;
}

/** The number of folders in the storm, and of kinds of files, so that a search finds one file in twenty. */
const kinds = 20;
/** The number of files that no step writes. */
const keptFiles = 400;

/** Returns the query for one kind of files, which the lines of `lineOf` match. */
export const queryOf = (kind: number): string => `mark${kind % kinds} of`;

export const lineOf = (number: number, version: string | number): string =>
  `${queryOf(number)} ${number}, ${version}`;

export const stormTextOf = (number: number, version: string | number): string =>
  `the text of a file\nwith ${"words ".repeat(1 + (number % 40))}\n${lineOf(number, version)}\n`;

/** Returns the files before the storm. Half of them lie in the storm and move with their folders. */
export function keptBefore(): Map<string, string> {
  const kept = new Map<string, string>();
  for (let number = 0; number < keptFiles; number++) {
    const folder = number % 2 === 0 ? `kept/${number % 7}` : `storm/d${number % kinds}`;
    kept.set(`${folder}/kept-${number}.txt`, stormTextOf(number, "kept"));
  }
  return kept;
}

/**
 * Yields the steps. Each round creates, writes, moves and removes all files, and moves the folders away and
 * back.
 */
export function* stormSteps({ files, rounds }: StormPlan): Generator<StormStep, void, void> {
  const numbers = Array.from({ length: files }, (_, number) => number);
  const first = (number: number) => `storm/d${number % kinds}/f${number}.txt`;
  const second = (number: number) => `storm/e${(number + 7) % kinds}/g${number}.txt`;
  for (let round = 0; round < rounds; round++) {
    for (const number of numbers)
      yield { kind: "write", path: first(number), text: stormTextOf(number, `${round} a`) };
    for (const number of numbers.filter((one) => one % 3 === 0))
      yield { kind: "write", path: first(number), text: stormTextOf(number, `${round} b`) };
    for (let folder = 0; folder < kinds; folder++)
      yield { kind: "rename", from: `storm/d${folder}`, to: `storm/e${folder}`, isFolder: true };
    for (const number of numbers)
      yield { kind: "rename", from: first(number).replace("/d", "/e"), to: second(number) };
    for (const number of numbers) yield { kind: "remove", path: second(number) };
    for (let folder = 0; folder < kinds; folder++)
      yield { kind: "rename", from: `storm/e${folder}`, to: `storm/d${folder}`, isFolder: true };
  }
}

/** Files that do not change for a while. */
export interface UntouchedFiles {
  readonly files: ReadonlyMap<string, string>;
  /** Whether a step changes the entry at this path. */
  isTouched(path: string): boolean;
}

/** The files on the disk after a number of steps. */
export class StormModel {
  readonly #steps: readonly StormStep[];
  readonly #files = keptBefore();
  #done = 0;

  constructor(plan: StormPlan) {
    this.#steps = [...stormSteps(plan)];
  }

  /** Applies the first `done` steps. The number must not fall. */
  advance(done: number): void {
    for (; this.#done < done; this.#done++) this.#apply(this.#steps[this.#done]!);
  }

  /** Returns the current files, without those that a step before number `started` may touch. */
  untouchedUntil(started: number): UntouchedFiles {
    const paths = new Set<string>();
    const folders: string[] = [];
    for (const step of this.#steps.slice(this.#done, started)) {
      if (step.kind !== "rename") paths.add(step.path);
      else if (step.isFolder === true) folders.push(`${step.from}/`, `${step.to}/`);
      else for (const path of [step.from, step.to]) paths.add(path);
    }
    const isTouched = (path: string) => paths.has(path) || folders.some((folder) => path.startsWith(folder));
    return { files: new Map([...this.#files].filter(([path]) => !isTouched(path))), isTouched };
  }

  #apply(step: StormStep): void {
    if (step.kind === "write") this.#files.set(step.path, step.text);
    else if (step.kind === "remove") this.#files.delete(step.path);
    else for (const [from, to] of this.#moved(step)) this.#move(from, to);
  }

  #moved({ from, to, isFolder }: Extract<StormStep, { kind: "rename" }>): [string, string][] {
    if (isFolder !== true) return [[from, to]];
    const below = [...this.#files.keys()].filter((path) => path.startsWith(`${from}/`));
    return below.map((path) => [path, to + path.slice(from.length)]);
  }

  #move(from: string, to: string): void {
    this.#files.set(to, this.#files.get(from)!);
    this.#files.delete(from);
  }
}
