import { extractByteClasses } from "../prefilter/byte-classes.ts";
import { extractInnerLiterals } from "../prefilter/inner-literals.ts";
import type { SearchKernel } from "../prefilter/kernel.ts";
import { compileLineDfa } from "../prefilter/line-dfa.ts";
import { choosePrefilter } from "../prefilter/prefilter.ts";
import { asksForEnd, renderAsciiLines } from "../regex/ascii-lines.ts";
import type { Hir } from "../regex/hir.ts";
import {
  escapePattern,
  PatternError,
  type Regex,
  type RegexRuntime,
  toSource,
} from "../regex/regex-runtime.ts";
import { type AsciiLineMatcher, type LineMatcher, LiteralMatcher, RegexMatcher } from "./line-matcher.ts";

/** What a caller looks for: goes untouched from the handler to the thread that searches. */
export interface Query {
  /** A regular expression, or a literal. */
  readonly pattern: string;
  readonly regex: boolean;
  /** Folds Unicode case as Rust's crate `regex` does, for literals too. */
  readonly ignoreCase: boolean;
}

/** Queries that are kept ready: a caller often asks the same again, and all batches of a search do. */
const keptQueries = 8;

/** Makes queries out of questions, with the patterns compiled in one machine. */
export class QueryCompiler {
  readonly #machine: () => RegexRuntime;
  readonly #kernel: SearchKernel | undefined;
  readonly #queries = new Map<string, LineMatcher>();

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(machine: () => RegexRuntime, kernel: SearchKernel | undefined) {
    this.#machine = machine;
    this.#kernel = kernel;
  }

  /** Throws a `PatternError` or an `EngineFailure`. */
  compile(query: Query): LineMatcher {
    const key = JSON.stringify(query);
    const planned = this.#queries.get(key) ?? this.#make(query);
    this.#queries.delete(key);
    this.#queries.set(key, planned);
    if (this.#queries.size > keptQueries) this.#queries.delete(this.#queries.keys().next().value as string);
    return planned;
  }

  #make({ pattern, regex, ignoreCase }: Query): LineMatcher {
    // U+FFFD may be in a line as it is shown, and not in the file.
    if (!regex && !ignoreCase && !pattern.includes("\ufffd"))
      return new LiteralMatcher(pattern, this.#kernel);
    const machine = this.#machine();
    machine.trimMemory();
    const compiled = machine.compile(
      toSource({ pattern: regex ? pattern : escapePattern(pattern), ignoreCase }),
    );
    const hir = compiled.syntax();
    const clues = { required: extractInnerLiterals(hir), forms: extractByteClasses(hir) };
    return new RegexMatcher({
      regex: compiled,
      ascii: compileAscii(machine, hir),
      asksForEnd: asksForEnd(hir),
      finder: choosePrefilter(clues, this.#kernel),
      matcher: openMatcher(hir, this.#kernel),
    });
  }
}

function openMatcher(hir: Hir, kernel: SearchKernel | undefined): AsciiLineMatcher | undefined {
  const automaton = kernel && compileLineDfa(hir);
  return automaton && ((text, from, to) => kernel.match(text, automaton, from, to));
}

/** A pattern at the limits of the engine may be over them in its longer spelling; it is used as it is then. */
function compileAscii(machine: RegexRuntime, hir: Hir): Regex | undefined {
  try {
    return machine.compile(renderAsciiLines(hir));
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
