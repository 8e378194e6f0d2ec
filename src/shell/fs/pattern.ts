import { refuse } from "../../base/errors.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { escapePattern, type Pattern, toSource } from "../../text/regex/regex-runtime.ts";
import { type RegexEngine, type Replacement, refusalOfPattern } from "../../text/regex/rust-regex.ts";
import {
  ForeignTemplateError,
  requireDefinedGroups,
  requireOwnSyntax,
  TemplateError,
} from "../../text/regex/template.ts";

/** Throws bad-pattern unless the pattern compiles. */
export const requirePattern = (regex: RegexEngine, pattern: Pattern, deadline: Deadline): Promise<void> =>
  requireReplacement(regex, { ...pattern, replacement: "" }, deadline);

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
export async function requireReplacement(
  regex: RegexEngine,
  template: Replacement,
  deadline: Deadline,
): Promise<void> {
  const { replacement, strict, refusesForeign, ...pattern } = template;
  const compiled = refusingPattern(pattern, (source) => regex.compileQuickly(source));
  if (compiled === undefined) {
    // A thread compiles it, and compares the groups.
    await regex.replaceAll(Buffer.alloc(0), template, { path: "", maxBytes: 0, deadline });
    return;
  }
  try {
    if (strict) requireDefinedGroups(replacement, compiled.groups());
    if (refusesForeign) requireOwnSyntax(replacement, compiled.groups());
  } catch (error) {
    if (error instanceof ForeignTemplateError) throw refuse.foreignTemplate(replacement, error.message);
    throw error instanceof TemplateError ? refuse.badTemplate(replacement, error.message) : error;
  }
}
