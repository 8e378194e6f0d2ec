import type { ChangeSummary, MovedEntry } from "../filesystem/feed/command-changes.ts";
import { quoteUnlessPlain } from "./quote-unless-plain.ts";

/** Maximum number of paths that a summary names. */
const maxNamed = 5;

/** The changes of one kind, as the summary names them. */
interface Part {
  readonly count: number;
  /** The words for the kind, after the number. */
  readonly what: string;
  /** The first of their names. */
  readonly names: readonly string[];
}

/**
 * Renders a summary, such as `1 deleted file (c.txt), 2 files (a.txt, b.txt), 1 new folder with 30 files
 * (lib/), .git`. Returns `undefined` if nothing has changed.
 */
export function renderChanges(summary: Omit<ChangeSummary, "hasDenied">): string | undefined {
  const { made, hasGit, isIncomplete } = summary;
  const [replaced, created] = [true, false].map((one) =>
    made.filter((folder) => folder.isReplacement === one),
  );
  const parts = [
    files("deleted ", summary.deletedFiles),
    folders("deleted ", summary.deleted),
    files("moved ", summary.movedFiles),
    folders("moved ", summary.moved),
    files("", summary.files),
    folders("new ", pathsOf(created!), sayHolding(created!)),
    folders("replaced ", pathsOf(replaced!), sayHolding(replaced!)),
    folders("", summary.modified),
  ].filter(({ count }) => count > 0);
  const shares = sharesOf(parts);
  const said = [
    ...parts.map((part, index) => renderPart(part, shares[index]!)),
    ...(hasGit ? [".git"] : []),
    ...(isIncomplete ? ["and more than is known"] : []),
  ];
  return said.length === 0 ? undefined : said.join(", ");
}

/** Returns how many names each part gets: one at a time in turn, so that no kind hides another. */
function sharesOf(parts: readonly Part[]): number[] {
  const shares = parts.map(() => 0);
  for (let left = maxNamed; left > 0; ) {
    const open = parts.flatMap(({ count }, index) => (shares[index]! < count ? [index] : []));
    if (open.length === 0) break;
    for (const index of open.slice(0, left)) shares[index]!++;
    left -= Math.min(open.length, left);
  }
  return shares;
}

function renderPart({ count, what, names }: Part, share: number): string {
  const named = [...names.slice(0, share), ...(share < count ? ["…"] : [])];
  return `${count} ${what}${share > 0 ? ` (${named.join(", ")})` : ""}`;
}

const files = (kind: string, entries: readonly (string | MovedEntry)[]): Part => ({
  count: entries.length,
  what: `${kind}${entries.length === 1 ? "file" : "files"}`,
  names: entries.slice(0, maxNamed).map((entry) => nameOf(entry, "")),
});

const folders = (kind: string, entries: readonly (string | MovedEntry)[], holding = ""): Part => ({
  count: entries.length,
  what: `${kind}${entries.length === 1 ? "folder" : "folders"}${holding}`,
  names: entries.slice(0, maxNamed).map((entry) => nameOf(entry, "/")),
});

const nameOf = (entry: string | MovedEntry, mark: string): string =>
  (typeof entry === "string" ? [entry] : [entry.from, entry.path])
    .map((path) => quoteUnlessPlain(`${path}${mark}`))
    .join(" to ");

const pathsOf = (made: ChangeSummary["made"]): string[] => made.map(({ path }) => path);

function sayHolding(made: ChangeSummary["made"]): string {
  const count = made.reduce((sum, folder) => sum + folder.files, 0);
  const least = made.some(({ isIncomplete }) => isIncomplete) ? "at least " : "";
  // It may have files that the configuration denies.
  if (count === 0 && least === "") return "";
  return ` with ${least}${count} ${count === 1 ? "file" : "files"}`;
}
