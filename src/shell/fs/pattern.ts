import { refuse } from "../../errors.ts";
import { type RegexEngine, type Replacement, refusalOfPattern } from "../../regex/engine.ts";
import { type Pattern, type Regex, toSource } from "../../regex/regex-runtime.ts";
import { requireDefinedGroups, TemplateError } from "../../regex/template.ts";

/** Compiles the pattern. Throws bad-pattern. */
export function requirePattern(regex: RegexEngine, pattern: Pattern): Regex {
  try {
    return regex.runtime.compile(toSource(pattern));
  } catch (error) {
    throw refusalOfPattern(error, pattern.pattern);
  }
}

/** Throws bad-pattern unless the pattern compiles and, where the replacement is strict, has the groups that it names. */
export function requireReplacement(
  regex: RegexEngine,
  { replacement, strict, ...pattern }: Replacement,
): void {
  const compiled = requirePattern(regex, pattern);
  if (!strict) return;
  try {
    requireDefinedGroups(replacement, compiled.groups());
  } catch (error) {
    throw error instanceof TemplateError ? refuse.badTemplate(replacement, error.message) : error;
  }
}
