/**
 * What the writer of a storm does, step by step: who knows how many steps are done knows what is on the disk, but for what the
 * step under way changes.
 */

/** Paths are from the base. A text is what the file then holds. */
export type StormStep =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly isFolder?: boolean };

export interface StormPlan {
  readonly files: number;
  readonly rounds: number;
}

/** Folders in which the storm is; there are as many kinds of files, and a search finds one file in twenty. */
const kinds = 20;
/** Files that no step writes to. */
const keptFiles = 400;

/** What a search for one kind of files asks for, and which lines that finds. */
export const queryOf = (kind: number): string => `mark${kind % kinds} of`;

export const lineOf = (number: number, version: string | number): string =>
  `${queryOf(number)} ${number}, ${version}`;

export const stormTextOf = (number: number, version: string | number): string =>
  `the text of a file\nwith ${"words ".repeat(1 + (number % 40))}\n${lineOf(number, version)}\n`;

/** Files before the storm: half of them lie where the storm is, and move with their folders. */
export function keptBefore(): Map<string, string> {
  const kept = new Map<string, string>();
  for (let number = 0; number < keptFiles; number++) {
    const folder = number % 2 === 0 ? `kept/${number % 7}` : `storm/d${number % kinds}`;
    kept.set(`${folder}/kept-${number}.txt`, stormTextOf(number, "kept"));
  }
  return kept;
}

/** Each round makes, writes to, moves and removes all files, and moves the folders away and back. */
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

/** Files that nothing changes for a while. */
export interface UntouchedFiles {
  readonly files: ReadonlyMap<string, string>;
  /** Whether something changes what is at this path. */
  isTouched(path: string): boolean;
}

/** What is on the disk after a number of steps. */
export class StormModel {
  readonly #steps: readonly StormStep[];
  readonly #files = keptBefore();
  #done = 0;

  constructor(plan: StormPlan) {
    this.#steps = [...stormSteps(plan)];
  }

  /** `done`: not less than before. */
  advance(done: number): void {
    for (; this.#done < done; this.#done++) this.#apply(this.#steps[this.#done]!);
  }

  /** The texts of the files that no step until `started` touches from now on. */
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
