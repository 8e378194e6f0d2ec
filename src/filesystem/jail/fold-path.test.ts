import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { fold, foldGlob } from "./fold-path.ts";

const codePoints = Array.from({ length: 0x110000 }, (_, i) => i).filter((i) => i < 0xd800 || i > 0xdfff);

describe("fold", () => {
  test("brings every character together with its other cases and forms", () => {
    const apart = codePoints.filter((codePoint) => {
      const letter = String.fromCodePoint(codePoint);
      const variants = [letter.toLowerCase(), letter.toUpperCase(), letter.normalize("NFD"), fold(letter)];
      const others = variants.filter((variant) => variant !== letter);
      return others.some((variant) => fold(`x${variant}x`) !== fold(`x${letter}x`));
    });
    expect(apart).toEqual([]);
  });

  test("leaves out what is not seen, and blanks and dots at the end of names", () => {
    for (const unseen of ["\u00ad", "\u034f", "\u200b", "\u2060", "\ufe0f", "\ufeff", "\u{e0100}"])
      expect(fold(`a${unseen}/b${unseen}`)).toBe("a/b");
    expect(fold("a. ./.b. /c.d")).toBe("a/.b/c.d");
    expect(fold(".env")).toBe(".env");
  });

  test("is the same for paths of ASCII as for all others, and final", () => {
    const texts = fc
      .array(fc.constantFrom(..."aB.~ /-_Σß\u0301"), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(fc.property(texts, (text) => expect(fold(fold(text))).toBe(fold(text))));
    fc.assert(fc.property(texts, (text) => expect(fold(`${text}\u200b`)).toBe(fold(text))));
  });
});

describe("foldGlob", () => {
  test.each([
    ["**/.ENV", "**/.env"],
    ["*.[CH]", "*.[ch]"],
    ["[A-Z]x[0-9]", "[a-z]x[0-9]"],
    ["[!A]", "?"],
    ["[^A]", "?"],
    ["[Z-a]", "?"],
    ["[]A]", "?"],
    ["[\u00c0-\u00d6]", "?"],
    ["\\[A\\*\\B", "\\[a\\*b"],
    ["{A,\u00c9}", "{a,\u00e9}"],
    ["secret. /x", "secret/x"],
    ["*. /x?.", "*. /x?."],
  ])("%p becomes %p", (glob, folded) => {
    expect(foldGlob(glob)).toBe(folded);
  });

  test("what a glob matches, its folded form matches folded", () => {
    const characters = fc.constantFrom(..."aZ\u00c9\u03a3\u03c2\u00df\u1e9e.-_");
    const names = fc.array(characters, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join("")}x`);
    const parts = fc.oneof(
      names,
      names.map((name) => `${name}*`),
      names.map((name) => `{${name},q}`),
      fc.constantFrom("*", "?x", "[a-z]*", "[!q]*", "[Z-\u00e9]*", "\\Z*"),
    );
    const globs = fc.array(parts, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        // A pattern for one character does not match the two that sharp s becomes.
        const isMatch = compileGlobSet([glob]).matches(path) && !(/[?[]/.test(glob) && /[ßẞ]/.test(path));
        if (isMatch)
          expect([glob, path, compileGlobSet([foldGlob(glob)]).matches(fold(path))]).toEqual([
            glob,
            path,
            true,
          ]);
      }),
      { numRuns: 2000 },
    );
  });

  test("has a form for every glob that can be compiled", () => {
    const glob = fc
      .array(fc.constantFrom(..."aZ[]!^-\\{},*?/. \u00df\u200b"), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(glob, (glob) => {
        try {
          compileGlobSet([glob]);
        } catch {
          return;
        }
        compileGlobSet([foldGlob(glob)]);
      }),
      propertyRuns(2000),
    );
  });
});
