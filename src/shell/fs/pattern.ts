import { refuse } from "../../base/errors.ts";
import { escapePattern, type Pattern, type Regex, toSource } from "../../text/regex/regex-runtime.ts";
import { type RegexEngine, type Replacement, refusalOfPattern } from "../../text/regex/rust-regex.ts";
import {
  ForeignTemplateError,
  requireDefinedGroups,
  requireOwnSyntax,
  TemplateError,
} from "../../text/regex/template.ts";

/** Compiles the pattern. Throws bad-pattern. */
export const requirePattern = (regex: RegexEngine, pattern: Pattern): Regex =>
  refusingPattern(pattern, (source) => regex.runtime.compile(source));

/** Returns a pattern that matches exactly this text. Throws bad-pattern if the text itself is too long. */
export const literalPattern = (text: string): string =>
  refusingPattern({ pattern: text, ignoreCase: false }, escapePattern);

function refusingPattern<T>(pattern: Pattern, convert: (source: string) => T): T {
  try {
    return convert(toSource(pattern));
  } catch (error) {
    throw refusalOfPattern(error, pattern.pattern);
  }
}

/**
 * Throws bad-pattern unless the pattern compiles and, if the replacement is strict, has the groups that the
 * replacement names.
 */
export function requireReplacement(
  regex: RegexEngine,
  { replacement, strict, refusesForeign, ...pattern }: Replacement,
): void {
  const compiled = requirePattern(regex, pattern);
  try {
    if (strict) requireDefinedGroups(replacement, compiled.groups());
    if (refusesForeign) requireOwnSyntax(replacement, compiled.groups());
  } catch (error) {
    if (error instanceof ForeignTemplateError) throw refuse.foreignTemplate(replacement, error.message);
    throw error instanceof TemplateError ? refuse.badTemplate(replacement, error.message) : error;
  }
}
