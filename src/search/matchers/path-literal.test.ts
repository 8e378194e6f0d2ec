import { expect, test } from "bun:test";
import fc from "fast-check";
import { compilers } from "./lines.test-kit.ts";
import { isPathLiteral, PathLiteral } from "./path-literal.ts";

const letter = fc.constantFrom("a", "B", "aB", "k", "S", "\u212a", "ſ", "İ", "é", "€", "🚀", "\ufffd", ".");
const text = fc.string({ unit: letter, maxLength: 6 });
const prefix = fc.array(text, { maxLength: 3 }).map((names) => names.map((name) => `${name}x/`).join(""));
const literal = fc.oneof(
  fc.string({ unit: fc.oneof(letter, fc.constantFrom("/", "x/")), minLength: 1, maxLength: 5 }),
  fc.constantFrom("\ud83d", "a\udc00", "\0", "/"),
);
/** Raw names, some of which are not UTF-8. */
const name = fc.oneof(
  text.map((one) => Buffer.from(one)),
  fc
    .array(fc.constantFrom(0x61, 0x62, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff), { maxLength: 6 })
    .map(Buffer.from),
);
const compiler = compilers[0]!;
const folder = fc.record({ prefix, names: fc.array(name, { maxLength: 4 }) });

test("a literal matches the bytes of a path as the matcher of its query matches the decoded path", () => {
  fc.assert(
    fc.property(literal, fc.boolean(), fc.array(folder, { maxLength: 4 }), (pattern, ignoreCase, folders) => {
      const query = { pattern, regex: false, ignoreCase };
      fc.pre(isPathLiteral(query));
      const expected = compiler.compile(query);
      const matcher = new PathLiteral(query);
      for (const { names, ...place } of folders) {
        for (const one of names) {
          const bytes = Buffer.concat([Buffer.from("ab/"), one, Buffer.from("ab")]);
          const found = matcher.matches(place, bytes, 3, 3 + one.length);
          expect(found).toBe(expected.matchesPath(place.prefix + one.toString()));
        }
      }
    }),
    { numRuns: 4000 },
  );
});
