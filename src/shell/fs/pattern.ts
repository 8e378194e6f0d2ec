import { type RegexEngine, refusalOf } from "../../regex/engine.ts";
import { type Pattern, spellOut } from "../../regex/machine.ts";

/** Throws bad-pattern unless the pattern compiles. */
export function requirePattern(regex: RegexEngine, pattern: Pattern): void {
  try {
    regex.machine.compile(spellOut(pattern));
  } catch (error) {
    throw refusalOf(error, pattern.pattern);
  }
}
