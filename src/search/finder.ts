import { type Form, formsRarity } from "./forms.ts";
import { type FoldedString, type Kernel, longestFolded } from "./kernel.ts";
import { type Element, elementBits, type Required, type Sequence } from "./needles.ts";
import { rarestPair } from "./rarity.ts";
import { AnchorSeeker, FoldedSeeker, type Place, type Seeker, ShapeSeeker } from "./seekers.ts";
import { shapeOf } from "./shape.ts";

/** Finds places where what a pattern requires stands in a text. */
export class Finder {
  /** A found place is a match of the pattern, and every match is found. */
  readonly isWhole: boolean;
  /** Bytes that `prepare` writes behind a text. */
  readonly slack: number;
  readonly #seekers: readonly Seeker[];
  /** Where each seeker's sequence stands next: "?" when it has not looked, undefined when nowhere. */
  readonly #places: (Place | undefined | "?")[];
  #found: Place | undefined;

  constructor(seekers: readonly Seeker[], isWhole: boolean) {
    this.#seekers = seekers;
    this.#places = seekers.map(() => "?");
    this.isWhole = isWhole;
    this.slack = seekers.reduce((sum, { sentinel }) => sum + sentinel.length, 0);
  }

  /** Forgets the last text. Writes behind the newline that follows `text[0, length)` what ends the searches of it. */
  prepare(text: Buffer, length: number): void {
    let at = length + 1;
    for (const seeker of this.#seekers) {
      at += seeker.sentinel.copy(text, at);
      seeker.begin?.(text, length);
    }
    this.#places.fill("?");
    this.#found = undefined;
  }

  /** Start of the first place in `text[from, length)`, or -1. */
  next(text: Buffer, from: number, length: number): number {
    this.#found = undefined;
    for (const [i, seeker] of this.#seekers.entries()) {
      let place = this.#places[i];
      if (place === "?" || (place !== undefined && place.start < from))
        place = seeker.seek(text, from, length);
      this.#places[i] = place;
      if (place !== undefined && (this.#found === undefined || place.start < this.#found.start))
        this.#found = place;
    }
    return this.start;
  }

  /** Start of the place that `next` found last. */
  get start(): number {
    return this.#found?.start ?? -1;
  }

  get end(): number {
    return this.#found?.end ?? -1;
  }
}

/**
 * Nanoseconds per byte of text, roughly: one pass of `indexOf` or of the kernel, a look at what stands around an anchor,
 * the kernel for forms, the engine on a candidate line, and the engine on all of the text. Only their ratios matter.
 */
const passCost = 0.07;
const lookCost = 30;
const formsCost = 0.15;
const engineCost = 600;
const scanCost = 1.2;

/** Strings that are spelled out for one sequence. */
const mostAnchors = 12;

/** What is known of every match of a pattern. */
export interface Clues {
  readonly required: Required | undefined;
  readonly forms: readonly Form[] | undefined;
}

/** A finder of what every match contains, or undefined when it would be slower than the engine on all of the text. */
export function openFinder({ required, forms }: Clues, kernel: Kernel | undefined): Finder | undefined {
  const bySequences = required && waysTo(required, kernel);
  const byForms = forms && kernel && wayToForms(forms, kernel);
  const way = cheaper(bySequences ?? noWay, byForms ?? noWay);
  if (way.cost > scanCost) return undefined;
  return new Finder(way.seekers, way === bySequences && required?.isWhole === true);
}

function waysTo({ sequences, isWhole }: Required, kernel: Kernel | undefined): Way {
  const ways = sequences.map((sequence) => cheaper(spellOut(sequence), fold(sequence, kernel)));
  const engine = isWhole ? 0 : sequences.reduce((sum, sequence) => sum + share(sequence), 0) * engineCost;
  return {
    cost: ways.reduce((sum, way) => sum + way.cost, engine),
    seekers: ways.flatMap(({ seekers }) => seekers),
  };
}

function wayToForms(forms: readonly Form[], kernel: Kernel): Way {
  const engine = 2 ** -formsRarity(forms) * engineCost;
  return { cost: formsCost + engine, seekers: [new ShapeSeeker(kernel, shapeOf(forms))] };
}

/** The share of places where a sequence stands. */
const share = (sequence: Sequence): number =>
  2 ** -sequence.reduce((bits, element) => bits + elementBits(element), 0);

/** Seekers that together find all places of a sequence. */
interface Way {
  readonly cost: number;
  readonly seekers: readonly Seeker[];
}

const cheaper = (one: Way, other: Way): Way => (other.cost < one.cost ? other : one);
const noWay: Way = { cost: Number.POSITIVE_INFINITY, seekers: [] };

/** By every string of that part of the sequence which is cheapest to look for. */
function spellOut(sequence: Sequence): Way {
  let best = noWay;
  for (let from = 0; from < sequence.length; from++) {
    for (let to = from + 1; to <= sequence.length; to++) {
      const window = sequence.slice(from, to);
      const count = window.reduce((product, { length }) => product * length, 1);
      if (count > mostAnchors) break;
      const cost = count * passCost + share(window) * lookCost;
      if (cost < best.cost)
        best = { cost, seekers: anchors(sequence, { from, to, strings: stringsOf(window) }) };
    }
  }
  return best;
}

/** Every string that a sequence stands for. */
function stringsOf(sequence: Sequence): string[] {
  return sequence.reduce<string[]>(
    (starts, element) => starts.flatMap((start) => element.map((string) => start + string)),
    [""],
  );
}

function anchors(
  sequence: Sequence,
  { from, to, strings }: { from: number; to: number; strings: Element },
): Seeker[] {
  return strings.map((string) => new AnchorSeeker(string, sequence.slice(0, from), sequence.slice(to)));
}

/**
 * By its form in ASCII, whatever the case, and by each character past ASCII that may stand in it: U+212A folds to k, and
 * U+017F to s.
 */
function fold(sequence: Sequence, kernel: Kernel | undefined): Way {
  const string = foldedString(sequence);
  if (kernel === undefined || string === undefined) return noWay;
  const foreign = sequence.flatMap((element, from) =>
    anchors(sequence, { from, to: from + 1, strings: element.filter((string) => !isAscii(string)) }),
  );
  const cost = (1 + foreign.length) * passCost;
  return { cost, seekers: [new FoldedSeeker(kernel, string), ...foreign] };
}

const isAscii = (string: string): boolean => /^[\0-\x7f]*$/.test(string);

/** The ASCII strings of a sequence as one, if they differ in nothing but case. */
function foldedString(sequence: Sequence): FoldedString | undefined {
  const bytes: number[] = [];
  const folds: number[] = [];
  for (const element of sequence) {
    const [lower, upper, ...more] = element.filter(isAscii).sort().reverse();
    if (lower === undefined || more.length > 0) return undefined;
    const isFolded = upper !== undefined;
    if (isFolded && (lower.length > 1 || upper !== lower.toUpperCase() || upper === lower)) return undefined;
    bytes.push(...Buffer.from(lower));
    folds.push(...new Array<number>(lower.length).fill(isFolded ? 0x20 : 0));
  }
  if (bytes.length > longestFolded || !folds.includes(0x20)) return undefined;
  return { bytes: Uint8Array.from(bytes), folds: Uint8Array.from(folds), rare: rarestPair(bytes) };
}
