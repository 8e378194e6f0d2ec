import { type NeededNgrams, neededNgrams } from "../../index/needed-ngrams.ts";
import { compileForwardDfa } from "../../prefilter/forward-dfa.ts";
import { extractInnerLiterals, type InnerLiterals } from "../../prefilter/inner-literals.ts";
import type { SearchKernel } from "../../prefilter/kernel.ts";
import { compileLineDfa } from "../../prefilter/line-dfa.ts";
import {
  choosePartPrefilter,
  choosePrefilter,
  choosePrefixPrefilter,
  chooseTextPrefilter,
} from "../../prefilter/prefilter.ts";
import { asksForEnd, renderAsciiLines, renderAsciiText } from "../../regex/ascii-lines.ts";
import type { Hir } from "../../regex/hir.ts";
import {
  escapePattern,
  PatternError,
  type Regex,
  type RegexRuntime,
  toSource,
} from "../../regex/regex-runtime.ts";
import {
  asksForTextEnds,
  extentOf,
  linePartsOf,
  matchesEmpty,
  matchesWithinLines,
} from "../../regex/text-shape.ts";
import { AnchoredSearch } from "./anchored-search.ts";
import { wholeText } from "./candidate-lines.ts";
import {
  type AsciiLineMatcher,
  type LineMatcher,
  LiteralMatcher,
  LiteralTextMatcher,
  RegexLineMatcher,
  RegexTextMatcher,
  type TextMatcher,
  type TextPlan,
} from "./matcher.ts";

/** What a caller searches for; passes unchanged from the handler to the thread that searches. */
export interface Query {
  /** A regular expression, or a literal. */
  readonly pattern: string;
  readonly regex: boolean;
  /** Folds Unicode case as Rust's crate `regex` does, for literals too. */
  readonly ignoreCase: boolean;
  /** Matches may span lines: `^` and `$` match at the ends of each, which end in "\n" or "\r\n". Default: false. */
  readonly multiline?: boolean;
  /** Matches that no word character touches at either end, as with `rg -w`. Default: false. */
  readonly word?: boolean;
  /** Further patterns, of the same kind: any of them may match. */
  readonly others?: readonly string[];
}

export type QueryMatcher = LineMatcher | TextMatcher;

/** Compiled queries in the cache: callers often repeat a query, and all batches of a search share one. */
const cacheSize = 8;

/** Whether the query is a literal: it never takes long to match, and no engine is needed for it. */
export const isLiteral = ({ regex, ignoreCase, word = false, others = [] }: Query): boolean =>
  !regex && !ignoreCase && !word && others.length === 0;

/** Compiles queries to matchers in one regex runtime, and caches them. */
export class QueryCompiler {
  readonly #runtime: () => RegexRuntime;
  readonly #kernel: SearchKernel | undefined;
  readonly #cache = new Map<string, QueryMatcher>();
  /** By compiled query, what its matches contain. */
  readonly #literals = new WeakMap<QueryMatcher, () => InnerLiterals | undefined>();

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(runtime: () => RegexRuntime, kernel: SearchKernel | undefined) {
    this.#runtime = runtime;
    this.#kernel = kernel;
  }

  /** Throws a `PatternError` or an `EngineFailure`. */
  compile(query: Query): QueryMatcher {
    const key = JSON.stringify(query);
    const matcher = this.#cache.get(key) ?? this.#compile(query);
    this.#cache.delete(key);
    this.#cache.set(key, matcher);
    if (this.#cache.size > cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
    return matcher;
  }

  /** The n-grams of files in which the query matches; undefined where they are not known. Throws as `compile` does. */
  needed(query: Query): NeededNgrams | undefined {
    const literals = this.#literals.get(this.compile(query))?.();
    return literals && neededNgrams(literals.seqs, literals.also);
  }

  #compile(query: Query): QueryMatcher {
    const { pattern, multiline = false } = query;
    // A decoded line may hold a U+FFFD that the file does not hold.
    if (isLiteral(query) && !pattern.includes("\ufffd"))
      return new (multiline ? LiteralTextMatcher : LiteralMatcher)(pattern, this.#kernel);
    const runtime = this.#runtime();
    runtime.trimMemory();
    const source = this.#sourceOf(query);
    const compiled = runtime.compile(multiline ? `(?mR)${source}` : source);
    const hir = compiled.syntax();
    const matcher = this.#compileRegex(compiled, hir, multiline);
    this.#literals.set(matcher, () => extractInnerLiterals(hir));
    return matcher;
  }

  /** Throws a `PatternError` for a pattern that is none by itself, such as "a)" beside "(b". */
  #sourceOf({ pattern, regex, ignoreCase, word = false, others = [] }: Query): string {
    const patterns = [pattern, ...others].map((one) => (regex ? one : escapePattern(one)));
    if (patterns.length === 1 && !word) return toSource({ pattern: patterns[0]!, ignoreCase });
    if (regex) for (const one of patterns) this.#runtime().compile(toSource({ pattern: one, ignoreCase }));
    const any = patterns.map((one) => `(?:${one})`).join("|");
    return toSource({ pattern: word ? `\\b{start-half}(?:${any})\\b{end-half}` : any, ignoreCase });
  }

  #compileRegex(compiled: Regex, hir: Hir, multiline: boolean): QueryMatcher {
    const runtime = this.#runtime();
    if (multiline) {
      const prefilter = textPrefilter(hir, this.#kernel);
      return new RegexTextMatcher({
        regex: compiled,
        ascii: compileAscii(runtime, renderAsciiText(hir)),
        matchesEmpty: matchesEmpty(hir),
        anchored: anchoredSearch(hir, this.#kernel, prefilter),
        ...prefilter,
      });
    }
    return new RegexLineMatcher({
      regex: compiled,
      ascii: compileAscii(runtime, renderAsciiLines(hir)),
      asksForEnd: asksForEnd(hir),
      prefilter: choosePrefilter(hir, this.#kernel),
      dfa: compileDfa(hir, this.#kernel),
    });
  }
}

type TextPrefilter = Pick<TextPlan, "prefilter" | "reach">;

/**
 * Nanoseconds per byte of text by which a search without the engine may cost more: words are more frequent than their
 * letters say, and then each candidate for the engine costs much.
 */
const engineRisk = 0.3;

/** The search without the engine, unless its candidates cost much more than those of `prefilter`. */
function anchoredSearch(
  hir: Hir,
  kernel: SearchKernel | undefined,
  { prefilter, reach }: TextPrefilter,
): AnchoredSearch | undefined {
  const prefix = kernel && reach !== "line" ? choosePrefixPrefilter(hir, kernel) : undefined;
  if (kernel === undefined || prefix === undefined) return undefined;
  if (prefilter !== undefined && prefilter.cost + engineRisk < prefix.cost) return undefined;
  const dfa = compileForwardDfa(hir);
  return dfa && new AnchoredSearch(kernel, { ...prefix, dfa });
}

/** A prefilter for matches that may span lines, and what its candidates say. */
function textPrefilter(hir: Hir, kernel: SearchKernel | undefined): TextPrefilter {
  if (matchesWithinLines(hir)) {
    const prefilter = choosePrefilter(hir, kernel);
    return prefilter === undefined ? { prefilter, reach: wholeText } : { prefilter, reach: "line" };
  }
  const lineParts = linePartsOf(hir).filter(({ before }) => !before.isAny);
  const [best] = lineParts
    .flatMap(({ part, ...reach }) => {
      const prefilter = choosePartPrefilter(part, kernel);
      return prefilter === undefined ? [] : [{ prefilter, reach }];
    })
    .sort((one, other) => one.prefilter.cost - other.prefilter.cost);
  if (best !== undefined) return best;
  const prefilter = chooseTextPrefilter(hir, kernel);
  if (prefilter === undefined || asksForTextEnds(hir)) return { prefilter, reach: wholeText };
  const extent = extentOf([hir]);
  return { prefilter, reach: { before: extent, after: extent } };
}

function compileDfa(hir: Hir, kernel: SearchKernel | undefined): AsciiLineMatcher | undefined {
  const dfa = kernel && compileLineDfa(hir);
  return dfa && ((text, from, to) => kernel.matchLine(text, dfa, from, to));
}

/** A pattern at the limits of the engine may exceed them in this longer form: then the matcher uses the pattern itself. */
function compileAscii(runtime: RegexRuntime, pattern: string): Regex | undefined {
  try {
    return runtime.compile(pattern);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
