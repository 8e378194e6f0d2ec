/**
 * A pattern as the engine parsed it, after flags, case folding and class arithmetic: the HIR of crate
 * regex-syntax, without its captures.
 */
export type Hir =
  | { readonly kind: "empty" }
  | { readonly kind: "literal"; readonly bytes: Uint8Array }
  | { readonly kind: "class"; readonly ranges: readonly Range[] }
  | { readonly kind: "look"; readonly look: Look }
  | {
      readonly kind: "repetition";
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
      readonly of: Hir;
    }
  | { readonly kind: "concat"; readonly of: readonly Hir[] }
  | { readonly kind: "alternation"; readonly of: readonly Hir[] };

/**
 * The cases of an extraction, one for each kind of HIR. For a compound, it gets only its results for the
 * parts.
 */
export interface HirFold<T> {
  readonly empty: T;
  readonly look: T;
  literal(bytes: Uint8Array): T;
  class(ranges: readonly Range[]): T;
  repetition(part: T, bounds: { readonly min: number; readonly max: number }): T;
  concat(parts: readonly T[]): T;
  alternation(branches: readonly T[]): T;
}

/** Folds `hir` from the bottom up. */
export function foldHir<T>(hir: Hir, fold: HirFold<T>): T {
  switch (hir.kind) {
    case "empty":
    case "look":
      return fold[hir.kind];
    case "literal":
      return fold.literal(hir.bytes);
    case "class":
      return fold.class(hir.ranges);
    case "repetition":
      return fold.repetition(foldHir(hir.of, fold), hir);
    case "concat":
    case "alternation":
      return fold[hir.kind](hir.of.map((part) => foldHir(part, fold)));
  }
}

/** A range of code points, both ends included. */
export type Range = readonly [first: number, last: number];

/** Assertions such as `^` and `\b`, under their names in crate regex-syntax. */
export type Look =
  | "Start"
  | "End"
  | "StartLF"
  | "EndLF"
  | "StartCRLF"
  | "EndCRLF"
  | `Word${"" | "Start" | "End" | "StartHalf" | "EndHalf"}${"Ascii" | "Unicode"}`
  | `Word${"Ascii" | "Unicode"}Negate`;

/** The result of `syntax()` of package rregex: Rust's structures, serialized. */
export interface RawHir {
  readonly kind: RawVariant;
}

interface RawVariant {
  readonly "@variant": string;
  readonly "@values": readonly [never];
}

interface RawClass {
  readonly "@values": readonly [
    { readonly ranges: readonly { start: string | number; end: string | number }[] },
  ];
}

interface RawRepetition {
  readonly min: number;
  readonly max: number | null | undefined;
  readonly greedy: boolean;
  readonly sub: RawHir;
}

/** Converts the structure of package rregex to a `Hir`. */
export function parseHir({ kind }: RawHir): Hir {
  const value: unknown = kind["@values"]?.[0];
  switch (kind["@variant"]) {
    case "Empty":
      return { kind: "empty" };
    case "Literal":
      return {
        kind: "literal",
        bytes: Uint8Array.from((value as { "@values": [Uint8Array] })["@values"][0]),
      };
    case "Class":
      return { kind: "class", ranges: parseRanges(value as RawClass) };
    case "Look":
      return { kind: "look", look: (value as { "@variant": Look })["@variant"] };
    case "Repetition":
      return parseRepetition(value as RawRepetition);
    case "Capture":
      return parseHir((value as { sub: RawHir }).sub);
    case "Concat":
      return { kind: "concat", of: (value as RawHir[]).map(parseHir) };
    case "Alternation":
      return { kind: "alternation", of: (value as RawHir[]).map(parseHir) };
    default:
      throw new Error(`a kind of HIR that is not known: ${kind["@variant"]}`);
  }
}

function parseRepetition({ min, max, greedy, sub }: RawRepetition): Hir {
  return { kind: "repetition", min, max: max ?? Number.POSITIVE_INFINITY, greedy, of: parseHir(sub) };
}

/**
 * Converts the ranges of a class. A class of bytes holds only ASCII, because the engine refuses patterns that
 * could match invalid UTF-8.
 */
function parseRanges(raw: RawClass): Range[] {
  const code = (end: string | number) => (typeof end === "number" ? end : (end.codePointAt(0) as number));
  return raw["@values"][0].ranges.map(({ start, end }): Range => [code(start), code(end)]);
}
