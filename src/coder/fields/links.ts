/** The targets of links on paths, for answers about changes. */
import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { splitPath } from "../../filesystem/jail/parse.ts";
import { renderPath } from "../render/entry-text.ts";

/** Whether a link that was moved or copied has lost its target, in the profile `agent`. */
export const LosesTarget = Type.Optional(
  Type.Boolean({ description: "The link led somewhere, and leads nowhere from its new place." }),
);

/** Returns a line about a link that has lost its target, with the line break before it. */
export const describeLostTarget = ({ dangling }: { readonly dangling?: boolean | undefined }): string =>
  dangling ? "\n[the link leads nowhere from its new place]" : "";

/** Returns whether the last name of a path is that of a link. Throws like `Jail.admit`. */
export function isLinkAt(jail: Jail, path: string): boolean {
  using place = jail.admit(path, { lastLink: "bare" });
  return place.stats?.isSymbolicLink() === true;
}

/** Returns whether a path is that of a link which calls may follow to something that exists. */
export const isLinkToSomething = (jail: Jail, path: string): boolean =>
  linkedPath(jail, path) !== undefined && isLinkAt(jail, path);

/** The path of an entry that was moved or copied, if a link above its new path led there. */
export const LinkedTarget = Type.Optional(
  Type.String({ description: "The path that links above `to` lead to, in the profile `agent`." }),
);

/** Returns a line about a new path that links lead to, with the line break before it. */
export const describeLinkedTarget = ({
  linked_to: path,
}: {
  readonly linked_to?: string | undefined;
}): string => (path === undefined ? "" : `\n[through a link: the new path is ${renderPath(path)}]`);

/** Options for a path at which nothing need be, as in a dry run. */
type LinkOptions = Pick<NonNullable<Parameters<Jail["admit"]>[1]>, "mayBeMissing" | "parents" | "lastLink">;

/**
 * Returns the path from the base that links on a path lead to. Returns `undefined` for a path without links,
 * and if callers cannot name the target like that.
 */
export function linkedPath(jail: Jail, path: string, options: LinkOptions = {}): string | undefined {
  try {
    if (jail.plainPath(path) !== undefined) return undefined;
    let reported = 0;
    using place = jail.admit(path, { ...options, onPath: () => reported++ });
    // Each `..` is reported too.
    const own = 1 + splitPath(path).names.filter((name) => name === "..").length;
    if (reported === own) return undefined;
    using named = jail.admit(place.path === "" ? "." : place.path, options);
    return named.path === place.path ? place.path : undefined;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Returns a note on the file that a call writes, if its path leads there through a link. */
export function notesOnLinks(jail: Jail, path: string): string[] {
  const linked = linkedPath(jail, path, { mayBeMissing: true, parents: true });
  return linked === undefined ? [] : [`through a link: the file is ${renderPath(linked)}`];
}
