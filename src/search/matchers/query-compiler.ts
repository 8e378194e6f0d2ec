import { compileForwardDfa } from "../../text/prefilter/forward-dfa.ts";
import { extractInnerLiterals, type InnerLiterals } from "../../text/prefilter/inner-literals.ts";
import type { SearchKernel } from "../../text/prefilter/kernel.ts";
import { compileLineDfa } from "../../text/prefilter/line-dfa.ts";
import {
  choosePartPrefilter,
  choosePrefilter,
  choosePrefixPrefilter,
  chooseTextPrefilter,
} from "../../text/prefilter/prefilter.ts";
import { asksForEnd, renderAsciiLines, renderAsciiText } from "../../text/regex/ascii-lines.ts";
import type { Hir } from "../../text/regex/hir.ts";
import {
  escapePattern,
  PatternError,
  type Regex,
  type RegexRuntime,
  toSource,
} from "../../text/regex/regex-runtime.ts";
import {
  asksForTextEnds,
  extentOf,
  linePartsOf,
  matchesEmpty,
  matchesWithinLines,
} from "../../text/regex/text-shape.ts";
import { type NeededNgrams, neededNgrams } from "../signatures/needed-ngrams.ts";
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

/** The query of a caller, which passes unchanged from the handler to the search thread. */
export interface Query {
  /** A regular expression, or a literal. */
  readonly pattern: string;
  readonly regex: boolean;
  /** Whether to fold Unicode case like Rust's crate `regex`, also for literals. */
  readonly ignoreCase: boolean;
  /**
   * Whether matches may span lines. `^` and `$` then match at the ends of each line, which ends in "\n" or
   * "\r\n". Default: false.
   */
  readonly multiline?: boolean;
  /** Whether texts have lost the "\r" of "\r\n" (`searchText`). Default: false. */
  readonly withoutReturns?: boolean;
  /** Whether a match must not touch a word character at either end, like `rg -w`. Default: false. */
  readonly word?: boolean;
  /** Further patterns of this kind. The query matches if any of them does. */
  readonly others?: readonly string[];
}

export type QueryMatcher = LineMatcher | TextMatcher;

/**
 * Maximum compiled queries in the cache. Callers often repeat a query, and all batches of a search share one.
 */
const cacheSize = 8;

/** Returns whether the query is a literal, which never takes long to match. */
export const isLiteral = ({ regex, ignoreCase, word = false, others = [] }: Query): boolean =>
  !regex && !ignoreCase && !word && others.length === 0;

/**
 * Returns whether the regex engine matches the query. It also finds a literal with U+FFFD, which a decoded
 * line may contain and the file does not.
 */
export const needsEngine = (query: Query): boolean => !isLiteral(query) || query.pattern.includes("\ufffd");

/** Compiles queries to matchers in one regex runtime, and caches them. */
export class QueryCompiler {
  readonly #runtime: () => RegexRuntime;
  readonly #kernel: SearchKernel | undefined;
  readonly #cache = new Map<string, QueryMatcher>();
  /** The literals that matches contain, by compiled query. */
  readonly #literals = new WeakMap<QueryMatcher, () => InnerLiterals | undefined>();

  /** If a `kernel` is given, texts have to be in its memory. */
  constructor(runtime: () => RegexRuntime, kernel: SearchKernel | undefined) {
    this.#runtime = runtime;
    this.#kernel = kernel;
  }

  /** Compiles a query. Throws a `PatternError` or an `EngineFailure`. */
  compile(query: Query): QueryMatcher {
    const key = JSON.stringify(query);
    const matcher = this.#cache.get(key) ?? this.#compile(query);
    this.#cache.delete(key);
    this.#cache.set(key, matcher);
    if (this.#cache.size > cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
    return matcher;
  }

  /**
   * Returns the n-grams of files in which the query matches, or `undefined` if they are unknown. Throws like
   * `compile`.
   */
  needed(query: Query): NeededNgrams | undefined {
    const literals = this.#literals.get(this.compile(query))?.();
    return literals && neededNgrams(literals.seqs, literals.also);
  }

  #compile(query: Query): QueryMatcher {
    const { pattern, multiline = false, withoutReturns = false } = query;
    if (!needsEngine(query))
      return new (multiline ? LiteralTextMatcher : LiteralMatcher)(pattern, this.#kernel);
    const runtime = this.#runtime();
    runtime.trimMemory();
    const source = this.#sourceOf(query);
    const compiled = runtime.compile(multiline ? `(?${withoutReturns ? "m" : "mR"})${source}` : source);
    const hir = compiled.syntax();
    const matcher = this.#compileRegex(compiled, hir, multiline);
    this.#literals.set(matcher, () => extractInnerLiterals(hir));
    return matcher;
  }

  /**
   * Returns the source of all patterns. Throws a `PatternError` for a pattern that is invalid by itself, such
   * as "a)" beside "(b".
   */
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
 * The nanoseconds per byte of text that a search without the engine may cost more. Words are more frequent
 * than their letters suggest, and then each candidate for the engine is expensive.
 */
const engineRisk = 0.3;

/** Returns the search without the engine, unless its candidates cost much more than those of `prefilter`. */
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

/** Returns a prefilter for matches that may span lines, with the reach of its candidates. */
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

/**
 * Compiles the ASCII form of a pattern. A pattern at the limits of the engine may exceed them in this longer
 * form, and the matcher then uses the pattern itself.
 */
function compileAscii(runtime: RegexRuntime, pattern: string): Regex | undefined {
  try {
    return runtime.compile(pattern);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
