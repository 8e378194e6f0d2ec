/**
 * Folds all spellings that any file system treats as the same name to one. Folding too much denies more, not
 * less.
 */

/**
 * Returns the path in that spelling: without invisible code points, without blanks and dots at the end of a
 * name, in one case and one Unicode form. It applies lower case first and last: capital sharp s has no other
 * upper case, and the long s none of its own.
 */
export const fold = (path: string): string =>
  isPlain(path) ? path.toLowerCase() : foldLetters(path).replace(/(?<=[^/])[ .]+(?=\/|$)/g, "");

/** Matches ASCII without blanks and dots that could end a name. */
const isPlain = (path: string): boolean => /^(?:[!-\-/-~]|\.(?=[!-\-0-~]))*$/.test(path);

const foldLetters = (text: string): string =>
  text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFD")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    // The choice between the two sigmas depends on their neighbours.
    .replaceAll("\u03c2", "\u03c3")
    .normalize("NFC");

/**
 * Returns a glob that matches the folded form of every path that `glob` matches, and perhaps more. A class of
 * characters whose folded form is not plain becomes `?`, which takes one character: not both letters of a
 * folded sharp s.
 */
export function foldGlob(glob: string): string {
  const folded = glob.replace(
    /(\\.)|(\[[!^]?\]?[^\]]*\])|[^\\[]+/gsu,
    (part, escaped?: string, set?: string) => {
      if (escaped !== undefined) return foldEscaped(escaped);
      return set === undefined ? foldLetters(part) : foldClass(set);
    },
  );
  // Only after literal characters: a folded name never ends like this, and a wildcard's match leaves none at
  // its end.
  return folded.replace(/(?<=[^/\\*?\]{},. ])[ .]+(?=\/|$)/g, "");
}

function foldEscaped(escaped: string): string {
  const folded = foldLetters(escaped.slice(1));
  return folded === "" || /[a-z\u0080-\u{10ffff}]/u.test(folded) ? folded : `\\${folded}`;
}

const foldClass = (set: string): string =>
  /^\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[!-,./-Z_a-z{-~])+\]$/.test(set) && !/^\[[!^]/.test(set)
    ? set.toLowerCase()
    : "?";
