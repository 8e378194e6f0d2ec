import { expect, test } from "bun:test";
import fc from "fast-check";
import { PathLiteral } from "./path-literal.ts";

const letter = fc.constantFrom("a", "b", "ab", "é", "€", "🚀", "\ufffd", ".");
const text = fc.string({ unit: letter, maxLength: 6 });
const prefix = fc.array(text, { maxLength: 3 }).map((names) => names.map((name) => `${name}x/`).join(""));
const literal = fc.oneof(
  fc.string({ unit: fc.oneof(letter, fc.constantFrom("/", "x/")), minLength: 1, maxLength: 5 }),
  fc.constantFrom("\ud83d", "a\udc00", "\0", "/"),
);
/** Names as they are on disk, some of them not UTF-8. */
const name = fc.oneof(
  text.map((one) => Buffer.from(one)),
  fc
    .array(fc.constantFrom(0x61, 0x62, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff), { maxLength: 6 })
    .map(Buffer.from),
);
const folder = fc.record({ prefix, names: fc.array(name, { maxLength: 4 }) });

test("a literal matches the bytes of a path as it matches the decoded path", () => {
  fc.assert(
    fc.property(literal, fc.array(folder, { maxLength: 4 }), (query, folders) => {
      const matcher = new PathLiteral(query);
      for (const { names, ...place } of folders) {
        for (const one of names) {
          const bytes = Buffer.concat([Buffer.from("ab/"), one, Buffer.from("ab")]);
          const found = matcher.matches(place, bytes, 3, 3 + one.length);
          expect(found).toBe((place.prefix + one.toString()).includes(query));
        }
      }
    }),
    { numRuns: 20_000 },
  );
});
