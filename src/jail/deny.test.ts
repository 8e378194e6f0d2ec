import { describe, expect, test } from "bun:test";
import { compileGlobSet } from "../globs/glob-set.ts";
import { type DenyRules, denyRules } from "./deny.ts";

const globs = compileGlobSet(["**/.env", "**/*.PEM", "**/secrets/**", "**/caf\u00e9"]);

/** Whether a path is denied, asked by its name alone, as text and as bytes. */
function deniedInFolder(rules: DenyRules, path: string): boolean {
  const at = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
  const bytes = Buffer.from(`/${name}/`);
  const isDenied = rules.deniesBytesIn(folder, bytes, 1, bytes.length - 1);
  expect(rules.deniesIn(folder, name)).toBe(isDenied);
  return isDenied;
}

describe("where names are told apart", () => {
  const rules = denyRules(globs, false);

  test("globs match exactly", () => {
    expect(rules.denies(".env")).toBe(true);
    expect(rules.denies("a/x.PEM")).toBe(true);
    expect(rules.denies("secrets/key")).toBe(true);
    for (const path of [".ENV", "x.pem", "Secrets/key", "cafe\u0301", "secrets"]) {
      expect(rules.denies(path)).toBe(false);
      expect(deniedInFolder(rules, path)).toBe(false);
    }
    for (const path of [".env", "a/x.PEM", "secrets/key", "a/caf\u00e9"])
      expect(deniedInFolder(rules, path)).toBe(true);
  });

  test("a denied folder denies what is below it", () => {
    expect(rules.deniesAny([".env", "inner.txt"])).toBe(true);
    expect(rules.denies(".env/inner.txt")).toBe(false);
    expect(rules.deniesAny(["a", "b"])).toBe(false);
    expect(rules.deniesAny([])).toBe(false);
  });

  test("temporary files are denied everywhere", () => {
    expect(rules.denies("a/.coder-tmp-1")).toBe(true);
    expect(deniedInFolder(rules, "a/.coder-tmp-1")).toBe(true);
    expect(rules.deniesAny([".coder-tmp-1", "x"])).toBe(true);
    expect(rules.denies("a/.CODER-TMP-1")).toBe(false);
  });
});

describe("where names are not told apart", () => {
  const rules = denyRules(globs, true);

  test.each([
    ".ENV",
    ".e\u200dnv",
    "a/x.pem",
    "a/x.Pem",
    "SECRETS/key",
    "\u017fecrets/\u212aey",
    "Cafe\u0301",
    "CAF\u00c9",
    "a/.CODER-TMP-1",
  ])("%p is denied", (path) => {
    expect(rules.denies(path)).toBe(true);
    expect(deniedInFolder(rules, path)).toBe(true);
  });

  test("other names are not", () => {
    for (const path of ["env", "x.pe", "secrets", "cafe"]) expect(rules.denies(path)).toBe(false);
  });

  test("two spellings fold to one", () => {
    expect(rules.fold("A/Cafe\u0301")).toBe(rules.fold("a/CAF\u00c9"));
  });
});
