/**
 * Parses the groups that a replacement template names as Rust's crate `regex` does: `$name` with the longest run of
 * word characters, `${name}` with anything up to the brace, `$$` for a dollar sign, and any other `$` literally.
 */

/** The name of each group by its number; null at 0, which is the whole match, and for a group without a name. */
export type GroupNames = readonly (string | null)[];

const reference = /\$(?:\$|\{([^}]*)\}|([0-9A-Za-z_]+))/g;

/** What Rust parses as a number. One beyond `u32` is a name there; here it is a group that no pattern has. */
const number = /^\+?[0-9]+$/;

/** A replacement template names a group that the pattern does not have. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Throws a `TemplateError`, which lists the groups, when `template` names one that is not among them. */
export function requireDefinedGroups(template: string, groups: GroupNames): void {
  const named = undefinedGroupIn(template, groups);
  if (named === undefined) return;
  const there = groups.slice(0, mostListed).map((name, index) => `\${${name ?? index}}`);
  const more = groups.length > mostListed ? ` and ${groups.length - mostListed} more` : "";
  throw new TemplateError(`it names ${named}, and the groups of the pattern are ${there.join(", ")}${more}`);
}

/** Groups that an error lists. */
const mostListed = 20;

/** The first reference to an undefined group, as the template spells it; undefined without one. */
export function undefinedGroupIn(template: string, groups: GroupNames): string | undefined {
  for (const [text, braced, bare] of template.matchAll(reference)) {
    const name = braced ?? bare;
    if (name !== undefined && !isDefined(name, groups)) return text;
  }
  return undefined;
}

const isDefined = (name: string, groups: GroupNames): boolean =>
  number.test(name) ? Number(name) < groups.length : groups.includes(name);
