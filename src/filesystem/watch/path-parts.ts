/** Maximum length of a path that is opened in one step. */
const maxPartUnits = 1000;

/** Splits a path into parts that are short enough, each made of whole names. */
export function partsOf(path: string): string[] {
  if (path === "") return ["."];
  const parts: string[] = [];
  let rest = path;
  while (rest.length > maxPartUnits) {
    const slash = rest.lastIndexOf("/", maxPartUnits);
    parts.push(rest.slice(0, slash));
    rest = rest.slice(slash + 1);
  }
  return [...parts, rest];
}
