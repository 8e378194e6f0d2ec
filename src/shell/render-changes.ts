import type { ChangeSummary } from "../filesystem/feed/command-changes.ts";
import { quoteUnlessPlain } from "./quote-unless-plain.ts";

/** Maximum number of paths that a summary names. */
const maxNamed = 5;

/**
 * Renders a summary, such as `2 files (a.txt, b.txt), 1 new folder with 30 files (lib/), .git`. Returns
 * `undefined` if nothing has changed.
 */
export function renderChanges(summary: Omit<ChangeSummary, "hasDenied">): string | undefined {
  const { files, made, moved, deleted, modified, hasGit, isIncomplete } = summary;
  let left = maxNamed;
  const part = (paths: readonly string[], what: string): string[] => {
    if (paths.length === 0) return [];
    const named = paths.slice(0, left).map(quoteUnlessPlain);
    left -= named.length;
    const more = named.length < paths.length ? ["…"] : [];
    return [`${paths.length} ${what}${named.length > 0 ? ` (${[...named, ...more].join(", ")})` : ""}`];
  };
  const folders = (paths: readonly string[], kind: string, holding = ""): string[] =>
    part(
      paths.map((path) => `${path}/`),
      `${kind}folder${paths.length === 1 ? "" : "s"}${holding}`,
    );
  const inFolders = [
    ...folders(
      made.map(({ path }) => path),
      "new ",
      sayHolding(made),
    ),
    ...folders(moved, "moved "),
    ...folders(deleted, "deleted "),
    ...folders(modified, ""),
  ];
  const parts = [
    ...part(files, files.length === 1 ? "file" : "files"),
    ...inFolders,
    ...(hasGit ? [".git"] : []),
    ...(isIncomplete ? ["and more than is known"] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function sayHolding(made: ChangeSummary["made"]): string {
  const files = made.reduce((sum, folder) => sum + folder.files, 0);
  const least = made.some(({ isIncomplete }) => isIncomplete) ? "at least " : "";
  // It may have files that the configuration denies.
  if (files === 0 && least === "") return "";
  return ` with ${least}${files} ${files === 1 ? "file" : "files"}`;
}
