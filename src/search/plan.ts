import { asksForEnd, renderAsciiLines } from "../regex/ascii-lines.ts";
import type { Hir } from "../regex/hir.ts";
import { escapePattern, type Machine, PatternError, type Regex, spellOut } from "../regex/machine.ts";
import { automatonOf } from "./automaton.ts";
import { openFinder } from "./finder.ts";
import { formsOf } from "./forms.ts";
import type { Kernel } from "./kernel.ts";
import { requiredOf } from "./needles.ts";
import { LiteralQuery, type Matcher, type Query, RegexQuery } from "./query.ts";

/** What a caller looks for. */
export interface Question {
  readonly query: string;
  readonly regex: boolean;
  /** Folds Unicode case as Rust's crate `regex` does, for literals too. */
  readonly ignoreCase: boolean;
  /** Bytes of a line that are looked at. */
  readonly maxLineBytes: number;
  /** See `LineLimits`. */
  readonly textBytes?: number | undefined;
}

/** Queries that are kept ready: a caller often asks the same again, and all batches of a search do. */
const keptQueries = 8;

/** Makes queries out of questions, with the patterns compiled in one machine. */
export class Planner {
  readonly #machine: () => Machine;
  readonly #kernel: Kernel | undefined;
  readonly #queries = new Map<string, Query>();

  /** With a `kernel`, texts have to lie in its memory. */
  constructor(machine: () => Machine, kernel: Kernel | undefined) {
    this.#machine = machine;
    this.#kernel = kernel;
  }

  /** Throws a `PatternError` or an `EngineFailure`. */
  plan(question: Question): Query {
    const { query, regex, ignoreCase, maxLineBytes } = question;
    const key = JSON.stringify([query, regex, ignoreCase, maxLineBytes]);
    const planned = this.#queries.get(key) ?? this.#make(question);
    this.#queries.delete(key);
    this.#queries.set(key, planned);
    if (this.#queries.size > keptQueries) this.#queries.delete(this.#queries.keys().next().value as string);
    return planned;
  }

  #make({ query, regex, ignoreCase, maxLineBytes }: Question): Query {
    // U+FFFD may be in a line as it is shown, and not in the file.
    if (!regex && !ignoreCase && !query.includes("\ufffd")) return new LiteralQuery(query, this.#kernel);
    const machine = this.#machine();
    machine.tidy();
    const pattern = regex ? query : escapePattern(query);
    const compiled = machine.compile(spellOut({ pattern, ignoreCase }));
    const hir = compiled.syntax();
    const clues = { required: requiredOf(hir), forms: formsOf(hir) };
    return new RegexQuery({
      regex: compiled,
      ascii: compileAscii(machine, hir),
      asksForEnd: asksForEnd(hir),
      finder: openFinder(clues, this.#kernel),
      matcher: openMatcher(hir, this.#kernel),
      maxLineBytes,
    });
  }
}

function openMatcher(hir: Hir, kernel: Kernel | undefined): Matcher | undefined {
  const automaton = kernel && automatonOf(hir);
  return automaton && ((text, from, to) => kernel.match(text, automaton, from, to));
}

/** A pattern at the limits of the engine may be over them in its longer spelling; it is used as it is then. */
function compileAscii(machine: Machine, hir: Hir): Regex | undefined {
  try {
    return machine.compile(renderAsciiLines(hir));
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
