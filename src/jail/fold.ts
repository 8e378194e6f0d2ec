/** One spelling for all that some file system takes for the same name. Where it folds more than one does, more is denied. */

/**
 * The path in that spelling: without code points that are not seen, without blanks and dots at the end of a name, in one
 * case and one Unicode form. Lower case comes first and last: capital sharp s has no other upper case, and the long s
 * none of its own.
 */
export const fold = (path: string): string =>
  isPlain(path) ? path.toLowerCase() : foldLetters(path).replace(/(?<=[^/])[ .]+(?=\/|$)/g, "");

/** ASCII without blanks and dots that could stand at the end of a name. */
const isPlain = (path: string): boolean => /^(?:[!-\-/-~]|\.(?=[!-\-0-~]))*$/.test(path);

const foldLetters = (text: string): string =>
  text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFD")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    // Which of the two it is depends on what stands around it.
    .replaceAll("\u03c2", "\u03c3")
    .normalize("NFC");

/**
 * A glob that matches the folded paths of all that `glob` matches, and perhaps more. A class of characters whose folded
 * form is not plain becomes `?`, and takes one character: not both of the letters that a sharp s becomes.
 */
export function foldGlob(glob: string): string {
  const folded = glob.replace(
    /(\\.)|(\[[!^]?\]?[^\]]*\])|[^\\[]+/gsu,
    (part, escaped?: string, set?: string) => {
      if (escaped !== undefined) return foldEscaped(escaped);
      return set === undefined ? foldLetters(part) : foldClass(set);
    },
  );
  // Only behind what stands for itself: no folded name ends so, and what a wildcard leaves at the end is gone.
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
