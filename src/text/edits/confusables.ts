/**
 * Names characters that look alike and differ: unusual spaces, invisible characters, composed letters, other
 * alphabets.
 */

/** Two characters at the same place in two lines. */
export interface Confusables {
  /** The code points in the file, such as `U+0065 U+0301`. */
  readonly found: string;
  readonly sent: string;
}

/** Maximum length of a compared line, in UTF-16 units. */
const maxLineLength = 2000;

/**
 * Returns the first characters that differ in `line` and in `sent`, a part of it, if both look the same
 * throughout. Returns `undefined` if a reader can distinguish them.
 */
export function findConfusables(line: string, sent: string): Confusables | undefined {
  if (Math.max(line.length, sent.length) > maxLineLength) return undefined;
  const [whole, part] = [charactersOf(line), charactersOf(sent)];
  const looks = (characters: readonly string[]) => characters.map(lookOf);
  const [wholeLooks, partLooks] = [looks(whole), looks(part)];
  const at = wholeLooks.findIndex((_, start) =>
    partLooks.every((look, index) => look === wholeLooks[start + index]),
  );
  if (at < 0) return undefined;
  const first = part.findIndex((character, index) => character !== whole[at + index]);
  return first < 0 ? undefined : { found: pointsOf(whole[at + first]!), sent: pointsOf(part[first]!) };
}

/** Returns the characters, each with the marks and invisible characters after it. */
const charactersOf = (text: string): readonly string[] => text.match(charactersWithMarks) ?? [];

const charactersWithMarks =
  /[^\p{M}\p{Cf}\u2028\u2029\0-\x08\x0e-\x1f\x7f][\p{M}\p{Cf}\u2028\u2029\0-\x08\x0e-\x1f\x7f]*|[\p{M}\p{Cf}\u2028\u2029\0-\x08\x0e-\x1f\x7f]+/gu;

/** Format characters, line separators, variation selectors, and controls, which terminals hide. */
const invisible = /[\p{Cf}\u2028\u2029\p{VS}\0-\x08\x0e-\x1f\x7f]/gu;

/** Spaces, and letters without a shape: fillers of Hangul and the blank of Braille. */
const blank = /^[\p{Zs}\u3164\uffa0\u2800\u115f\u1160]$/u;

const lookOf = (character: string): string => {
  const seen = character.replace(invisible, "").normalize("NFC");
  return blank.test(seen) ? " " : (alike.get(seen) ?? seen);
};

/** Returns a letter of another alphabet as the Latin one that looks like it, and others unchanged. */
export const unlike = (letter: string): string => alike.get(letter) ?? letter;

/** Cyrillic and Greek letters, each with the Latin one that looks like it. */
const alike: ReadonlyMap<string, string> = new Map(
  [
    ["\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458", "aeopcyxisj"],
    ["\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406", "ABEKMHOPCTXI"],
    [
      "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
      "ovABEZHIKMNOPTYX",
    ],
  ].flatMap(([others = "", latin = ""]) =>
    [...others].map((letter, index): [string, string] => [letter, latin[index]!]),
  ),
);

const pointsOf = (character: string): string =>
  [...character]
    .map((one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");
