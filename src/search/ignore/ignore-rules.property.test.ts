import { expect, test } from "bun:test";
import fc from "fast-check";
import { IgnoreFileCache } from "./ignore-file-cache.ts";
import { IgnoreRules } from "./ignore-rules.ts";

const names = fc.constantFrom("a", "aa", "ä");
const path = fc.array(names, { maxLength: 3 }).map((parts) => parts.join("/"));
const line = fc.constantFrom("a", "/a", "*a", "!a", "a/aa", "**/ä/", "/aa/**", "ä", "a/*/a");
const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
const nameOf = (name: string) => ({ bytes: Buffer.from(name), from: 0, to: Buffer.byteLength(name) });

const isWithin = (inner: string, folder: string) => folder === "" || `${inner}/`.startsWith(`${folder}/`);
const below = (inner: string, folder: string) => (folder === "" ? inner : inner.slice(folder.length + 1));

test("an ignore file says the same in each folder that has it, whatever was asked before", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { minLength: 1, maxLength: 3 }),
      text,
      fc.array(fc.tuple(fc.nat(2), path, names, fc.boolean()), { minLength: 1, maxLength: 40 }),
      (owners, lines, questions) => {
        const shared = new IgnoreFileCache();
        for (const [owner, inner, name, isFolder] of questions) {
          const own = owners[owner % owners.length]!;
          const folder = isWithin(inner, own) ? inner : [own, inner].filter(Boolean).join("/");
          const rules = IgnoreRules.none.with(own, [shared.compile(Buffer.from(lines), 1000)]);
          const alone = new IgnoreFileCache().compile(Buffer.from(lines), 1000)!;
          expect(rules.ignores(folder, nameOf(name), isFolder)).toBe(
            alone.match(alone.trailFrom(0), below(folder, own), nameOf(name), isFolder) === "ignore",
          );
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test("the nearest ignore file of a kind decides, and a stronger kind before it", () => {
  const cache = new IgnoreFileCache();
  const compile = (lines: string) => cache.compile(Buffer.from(lines), 1000);
  const [ignores, includes] = [compile("a\n"), compile("!a\n")];
  const rules = IgnoreRules.none.with("", [undefined, ignores]).with("d", [undefined, includes]);
  expect(rules.ignores("d", nameOf("a"), false)).toBe(false);
  expect(rules.ignores("d/e", nameOf("a"), false)).toBe(false);
  expect(rules.with("d/e", [undefined, ignores]).ignores("d/e", nameOf("a"), false)).toBe(true);
  expect(rules.with("d/e", [undefined, undefined, ignores]).ignores("d/e", nameOf("a"), false)).toBe(false);
  expect(rules.with("d/e", [ignores]).ignores("d/e/f", nameOf("a"), false)).toBe(true);
  expect(rules.with("d/e", [ignores]).cost).toBe(ignores!.cost + includes!.cost + ignores!.cost);
});
