/**
 * A pattern as the engine understood it, after flags, case folding and class arithmetic: the HIR of crate
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

/** Code points, both ends included. */
export type Range = readonly [first: number, last: number];

/** The names of crate regex-syntax for `^`, `\b` and their kin. */
export type Look =
  | "Start"
  | "End"
  | "StartLF"
  | "EndLF"
  | "StartCRLF"
  | "EndCRLF"
  | `Word${"" | "Start" | "End" | "StartHalf" | "EndHalf"}${"Ascii" | "Unicode"}`
  | `Word${"Ascii" | "Unicode"}Negate`;

/** What `syntax()` of package rregex returns: Rust's structures, spelled out. */
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

/** The structure of package rregex as a `Hir`. */
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

/** Of bytes only ASCII ones can be met: a pattern that could match invalid UTF-8 is refused by the engine. */
function parseRanges(raw: RawClass): Range[] {
  const code = (end: string | number) => (typeof end === "number" ? end : (end.codePointAt(0) as number));
  return raw["@values"][0].ranges.map(({ start, end }): Range => [code(start), code(end)]);
}
