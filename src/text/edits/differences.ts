/** The kinds of difference between a text that is not in a file and the place that it was meant for. */

/** The difference that `details` of a miss name; "none" if it is of another kind. */
export type Difference = "indent" | "tabs" | "trailing-space" | "crlf" | "unicode-quotes" | "escape" | "none";

/** The kinds with their `Difference`. In a sentence they have this order. */
const kinds = {
  text: "none",
  case: "none",
  escapes: "escape",
  entities: "escape",
  quotes: "unicode-quotes",
  dashes: "unicode-quotes",
  ellipses: "unicode-quotes",
  spaces: "unicode-quotes",
  invisible: "unicode-quotes",
  accents: "unicode-quotes",
  lookalikes: "none",
  tabs: "tabs",
  indent: "indent",
  spacing: "none",
  trailing: "trailing-space",
  lastBreaks: "trailing-space",
  blankLines: "none",
  breaks: "none",
  lineEnds: "crlf",
} as const satisfies Readonly<Record<string, Difference>>;

export type DifferenceKind = keyof typeof kinds;

/** The names of `Difference`, those first that obscure a text most. */
const precedence: readonly Difference[] = [
  "escape",
  "unicode-quotes",
  "tabs",
  "indent",
  "trailing-space",
  "crlf",
];

/** Collects the kinds of difference that a comparison finds, with an example of some. */
export class Differences {
  readonly #examples = new Map<DifferenceKind, string>();

  get size(): number {
    return this.#examples.size;
  }

  add(kind: DifferenceKind, example = ""): void {
    if (!this.#examples.has(kind)) this.#examples.set(kind, example);
  }

  has(kind: DifferenceKind): boolean {
    return this.#examples.has(kind);
  }

  /** Returns the kinds with their examples, in the order of a sentence. */
  list(): readonly (readonly [DifferenceKind, string])[] {
    const names = Object.keys(kinds) as DifferenceKind[];
    return names.filter((kind) => this.has(kind)).map((kind) => [kind, this.#examples.get(kind)!]);
  }

  /** Returns the name for `details`: "none" as soon as one of the kinds has no other. */
  get name(): Difference {
    const names = new Set<Difference>([...this.#examples.keys()].map((kind) => kinds[kind]));
    return names.has("none") ? "none" : (precedence.find((name) => names.has(name)) ?? "none");
  }
}
