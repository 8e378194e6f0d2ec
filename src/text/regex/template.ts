import { quoteShort } from "../../base/errors.ts";

/**
 * Parses the groups that a replacement template names like Rust's crate `regex` does: `$name` with the
 * longest run of word characters, `${name}` with anything up to the brace, `$$` for a dollar sign, and any
 * other `$` literally.
 */

/** The name of each group by its number; null for an unnamed group, and at 0, which is the whole match. */
export type GroupNames = readonly (string | null)[];

const reference = /\$(?:\$|\{([^}]*)\}|([0-9A-Za-z_]+))/g;

/**
 * The syntax of numbers in Rust. One beyond `u32` is a name there; here it is a group that no pattern has.
 */
const number = /^\+?[0-9]+$/;

/** Thrown if a replacement template names a group that the pattern does not have. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Throws a `TemplateError` that lists the groups if `template` names one that is not among them. */
export function requireDefinedGroups(template: string, groups: GroupNames): void {
  const named = undefinedGroupIn(template, groups);
  if (named === undefined) return;
  const there = groups.slice(0, maxListed).map((name, index) => `\${${name ?? index}}`);
  const more = groups.length > maxListed ? ` and ${groups.length - maxListed} more` : "";
  const quoted = quoteShort(named);
  // A reference is one of a text without quotes, unless that would be long or unclear.
  const shown = quoted === `"${named}"` ? named : quoted;
  throw new TemplateError(`it names ${shown}, and the groups of the pattern are ${there.join(", ")}${more}`);
}

/** Maximum groups that an error lists. */
const maxListed = 20;

/** Returns the first reference to an undefined group, exactly as in the template, or `undefined`. */
export function undefinedGroupIn(template: string, groups: GroupNames): string | undefined {
  const names = new Set(groups);
  for (const [text, braced, bare] of referencesIn(template)) {
    const name = braced ?? bare;
    if (name === undefined) continue;
    const isDefined = number.test(name) ? Number(name) < groups.length : names.has(name);
    if (!isDefined) return text;
  }
  return undefined;
}

/** Yields the references. After the last "}" no brace opens one, and each would be read to the end for it. */
function* referencesIn(template: string): Generator<RegExpExecArray> {
  const end = template.lastIndexOf("}") + 1;
  yield* template.slice(0, end).matchAll(reference);
  yield* template.slice(end).replaceAll("{", " ").matchAll(reference);
}

/** Thrown if a replacement template has a reference in the syntax of other languages. */
export class ForeignTemplateError extends Error {
  override readonly name = "ForeignTemplateError";
}

/**
 * Throws a `ForeignTemplateError`, whose message says what to send, for `$&`, and for `\1` if the pattern
 * has that group.
 */
export function requireOwnSyntax(template: string, groups: GroupNames): void {
  const [, number] = /(?<!\\)\\([1-9])(?![0-9])/.exec(template) ?? [];
  if (number !== undefined && Number(number) < groups.length)
    throw new ForeignTemplateError(
      `\\${number}, which is not a group here: send \${${number}}. For the text \\${number}, begin each group of the pattern with (?:`,
    );
  if (/(?<!\$)(?:\$\$)*\$&/.test(template))
    throw new ForeignTemplateError("$&, which is not the match here: send $0. For the text $&, send $$&");
}
