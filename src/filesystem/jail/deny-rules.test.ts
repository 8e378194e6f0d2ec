import { describe, expect, spyOn, test } from "bun:test";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { type DenyRules, denyRules } from "./deny-rules.ts";
import type { Folding } from "./name-comparison.ts";

const globs = compileGlobSet(["**/.env", "**/*.PEM", "**/secrets/**", "**/caf\u00e9"]);

/** Returns whether a path is denied, tested as a whole and by its name alone, as text and as bytes. */
function isDenied(rules: DenyRules, path: string, folding: Folding = "exact"): boolean {
  const at = path.lastIndexOf("/");
  const folder = { path: path.slice(0, Math.max(0, at)), folding };
  const name = path.slice(at + 1);
  const bytes = Buffer.from(`/${name}/`);
  const isDenied = rules.denies(path, folding);
  expect(rules.deniesIn(folder, name)).toBe(isDenied);
  expect(rules.deniesBytesIn(folder, bytes, 1, bytes.length - 1)).toBe(isDenied);
  return isDenied;
}

const spellings = [
  ".ENV",
  ".e\u200dnv",
  ".e\u00adnv",
  ".env\ufe0f",
  ".env ",
  ".env.",
  "a/x.pem",
  "a/x.Pem",
  "SECRETS/key",
  "secrets. /key",
  "\u017fecrets/\u212aey",
  "Cafe\u0301",
  "CAF\u00c9",
  "a/.CODER-TMP-1",
];
const others = ["env", "x.pe", "secrets", "cafe", ".env.x", "..env"];

describe("where names are told apart", () => {
  const rules = denyRules(globs, false);

  test("globs match exactly", () => {
    for (const path of [...spellings, ...others])
      expect([path, isDenied(rules, path)]).toEqual([path, false]);
    for (const path of [".env", "a/x.PEM", "secrets/key", "a/caf\u00e9"])
      expect(isDenied(rules, path)).toBe(true);
  });

  test.each(["folded", "foreign"] as const)("in a folder that is %s they match all spellings", (folding) => {
    for (const path of spellings) expect([path, isDenied(rules, path, folding)]).toEqual([path, true]);
    for (const path of others) expect([path, isDenied(rules, path, folding)]).toEqual([path, false]);
    expect(rules.fold("A/B", folding)).toBe("a/b");
    expect(rules.fold("A/B", "exact")).toBe("A/B");
  });

  test("a denied folder denies what is below it", () => {
    expect(rules.deniesAny([".env", "inner.txt"])).toBe(true);
    expect(isDenied(rules, ".env/inner.txt")).toBe(false);
    expect(rules.deniesAny(["a", "b"])).toBe(false);
    expect(rules.deniesAny([])).toBe(false);
  });

  test("temporary files are denied everywhere", () => {
    expect(isDenied(rules, "a/.coder-tmp-1")).toBe(true);
    expect(rules.deniesAny([".coder-tmp-1", "x"])).toBe(true);
  });
});

describe("where names are not told apart", () => {
  const rules = denyRules(globs, true);

  test.each(spellings)("%p is denied", (path) => {
    expect(isDenied(rules, path)).toBe(true);
  });

  test("other names are not", () => {
    for (const path of others) expect(isDenied(rules, path)).toBe(false);
  });

  test("two spellings fold to one", () => {
    expect(rules.fold("A/Cafe\u0301", "exact")).toBe(rules.fold("a/CAF\u00c9", "exact"));
  });
});

test.each([false, true])(
  "a path of 1,800 names is read once, not once for each folder on it: %p",
  (folds) => {
    const rules = denyRules(globs, folds);
    const names = Array.from({ length: 1800 }, (_, index) => `d${index}`);
    using comparisons = spyOn(String.prototype, "startsWith");
    using readings = spyOn(String.prototype, "charCodeAt");
    const answers = [names, [...names, ".env"], [".env", ...names]].map((path) => rules.deniesAny(path));
    const compared = comparisons.mock.contexts.filter((path) => String(path).length > 255).length;
    const read = readings.mock.calls.length;
    expect(answers).toEqual([false, true, true]);
    expect(compared).toBe(0);
    expect(read).toBeLessThan(6 * names.join("/").length);
  },
);
