import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileGlobSet, GlobError } from "./glob-set.ts";
import { adviceAgainst, withSlashes } from "./unmatchable.ts";

describe("a glob that can match no path is named with what to write instead", () => {
  test.each([
    ["/secrets/**", 'write "secrets/**"'],
    ["./secrets/**", 'write "secrets/**"'],
    ["././/a", 'write "a"'],
    ["/srv/project/secrets/*.key", 'write "secrets/*.key"'],
    ["a/../secrets/**", 'write "secrets/**"'],
    ["a//b", 'write "a/b"'],
    ["a/./b", 'write "a/b"'],
    ["secrets/", 'write "secrets/**"'],
    ["**/secrets/", 'write "**/secrets/**"'],
    ["/**/secrets/**", 'write "**/secrets/**"'],
    ["[.]/a", 'write it from base_path on, as in "**/secrets/**"'],
    ["{/a,./b,../c}", 'write it from base_path on, as in "**/secrets/**"'],
    ["../secrets/**", 'write it from base_path on, as in "**/secrets/**"'],
    ["*/", 'write "*/**"'],
    ["/**", 'write "**"'],
    ["..", 'write it from base_path on, as in "**/secrets/**"'],
    [".", 'write it from base_path on, as in "**/secrets/**"'],
    ["", 'write it from base_path on, as in "**/secrets/**"'],
    ["/", 'write "**"'],
  ])("%j", (glob, sentence) => {
    expect(adviceAgainst(glob, "/srv/project")).toContain(sentence);
  });
});

test.each([
  "**/.env",
  "**/.env.*",
  "**/*.pem",
  "**/secrets/**",
  "private",
  "...",
  "..a/b",
  "a/.../b",
  "?etc",
  "**/",
  "[!a]x",
  "{/a,b}",
  "a\\/b",
  "!a",
])("%j can match", (glob) => {
  expect(adviceAgainst(glob, "/srv/project")).toBeUndefined();
});

test("what does not compile is said by its own error", () => {
  expect(() => adviceAgainst("/[a", "/srv")).toThrow(GlobError);
});

test("no path is matched by a glob that can match none", () => {
  const part = fc.constantFrom("a", ".", "/", "..", "*", "?", "**/", "/**", "[a.]", "[!a]", "{a,/}", "{.,b}");
  const name = fc.stringMatching(/^[a.b]{1,3}$/).filter((text) => text !== "." && text !== "..");
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 5 }),
      fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 20 }),
      (parts, paths) => {
        const glob = parts.join("");
        const set = compileGlobSet([glob]);
        const isMatched = paths.some((names) => set.matches(names.join("/")));
        expect([glob, isMatched && adviceAgainst(glob, "/") !== undefined]).toEqual([glob, false]);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ["src\\**\\*.ts", "src/**/*.ts"],
  ["src\\\\**\\\\*.ts", "src/**/*.ts"],
  ["!.\\src\\a.ts", "!./src/a.ts"],
  ["\\src", "/src"],
  ["src\\", "src/"],
  ["a\\[b]", undefined],
  ["\\{a\\}", undefined],
  ["\\!a", undefined],
  ["a\\ ", undefined],
  ["src/a\\*", undefined],
  ["C:\\src\\*.ts", undefined],
  ["\\\\host\\src\\*.ts", undefined],
  ["src\\[a", undefined],
  ["src\\a[", undefined],
  ["src/*.ts", undefined],
])("%j with slashes is %j", (glob, instead) => {
  expect(withSlashes(glob)).toBe(instead);
});
