/** Notes on entries that the sandbox could not guard, because they came while a command ran. */
import type { Steps } from "../base/scheduling/time-slice.ts";
import type { ReadablePath } from "./confinement.ts";
import type { ObservedServices } from "./observed.ts";
import { quoteUnlessPlain } from "./quote-unless-plain.ts";
import type { KeptBy } from "./sandbox-notes.ts";

/** Maximum number of files that are named. */
const maxNamed = 5;

/** A denied entry that the command could read. */
export interface ExposedName extends Pick<ReadablePath, "event"> {
  readonly name: string;
}

/** The denied entries that the command could read, and their names. */
interface ExposedNames {
  readonly entries: readonly ExposedName[];
  readonly names: ReadonlySet<string>;
}

/** Names the entries as callers do, one in each step. Leaves out entries outside the served folders. */
export function* nameExposed(
  readable: readonly ReadablePath[],
  namesOf: ObservedServices["namesOf"],
): Steps<ExposedNames> {
  const entries: ExposedName[] = [];
  const names = new Set<string>();
  for (const { path, event } of readable) {
    for (const name of namesOf([path])) {
      entries.push({ name, event });
      names.add(name);
    }
    yield;
  }
  return { entries, names };
}

/** Notes the denied entries that the command could read, since no mount can hide what comes later. */
export function noteReadable(exposed: readonly ExposedName[]): string[] {
  const notes = exposed
    .slice(0, maxNamed)
    .map(({ name, event }) => `${quoteUnlessPlain(name)} ${readableReasons[event]}`);
  const more = exposed.length - maxNamed;
  return more > 0 ? [...notes, `the command could read ${more} more files like these`] : notes;
}

const readableReasons: Readonly<Record<ReadablePath["event"], string>> = {
  replaced:
    "was replaced by another program while the command ran, which could read it from then on: tell the user",
  created:
    "was created while the command ran, which could read it; later commands cannot: tell the user, unless the command created it",
  changed:
    "got files while the command ran, which could read those; later commands cannot: tell the user, unless the command created them",
};

/** Notes the protected files and folders that the command created, which the sandbox could not prevent. */
export function noteMade(names: readonly string[], keptBy: ObservedServices["keptBy"]): string[] {
  return (Object.keys(madeReasons) as KeptBy[]).flatMap((by) => {
    const made = names.filter((name) => keptBy(name) === by);
    if (made.length === 0) return [];
    const more = made.length - maxNamed;
    const listed =
      made.slice(0, maxNamed).map(quoteUnlessPlain).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return [`made ${listed}, which ${madeReasons[by]}: tell the user`];
  });
}

const madeReasons: Readonly<Record<KeptBy, string>> = {
  autorun: "other programs act on by themselves",
  globs: "the user's write_deny_globs keep from being changed",
  configuration: "would configure this server",
};
