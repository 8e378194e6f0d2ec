import { describe, expect, test } from "bun:test";
import { randomFrom } from "../../../tests/harness/random.ts";
import { compileGlobSet, GlobError, maxSetUnits } from "./glob-set.ts";
import measured from "./globset.golden.json";

const matches = (glob: string, path: string) => compileGlobSet([glob]).matches(path);

function refusal(...globs: string[]): string {
  try {
    compileGlobSet(globs);
  } catch (error) {
    expect(error).toBeInstanceOf(GlobError);
    return (error as GlobError).message;
  }
  throw new Error(`${JSON.stringify(globs)} compiled`);
}

/** A glob, paths that it matches, and paths that it does not match. */
const table: [glob: string, yes: string[], no: string[]][] = [
  ["?", ["a", "/", "é", "😀", "\n", "."], ["", "ab", "😀a"]],
  ["a?b", ["axb", "a/b"], ["ab", "axxb"]],
  ["*", ["", "a", ".env", "a/b/c", "/"], []],
  ["*.ts", [".ts", "a.ts", "a/b.ts"], ["a.tsx", "ts"]],
  ["src/*.ts", ["src/a.ts", "src/a/b.ts"], ["lib/src/a.ts", "a.ts"]],
  ["**", ["", "a", "a/b"], []],
  ["**/", ["", "a", "a/b"], []],
  ["**/a", ["a", "b/a", "b/c/a"], ["ba", "b/ba", "a/b"]],
  ["**/*.pem", [".pem", "x.pem", "a/b/x.pem"], ["x.pem/a", "pem"]],
  ["**/.env", [".env", "a/.env"], ["a.env", ".env/a", "x/.envy"]],
  ["**/.env.*", [".env.local", "a/.env.b/c"], [".env", "a.env.b"]],
  ["**/secrets/**", ["secrets/", "secrets/a", "a/secrets/b/c"], ["secrets", "a/secrets", "my-secrets/a"]],
  ["a/**", ["a/", "a/b", "a/b/c"], ["a", "ab/c", "b/a/c"]],
  ["/**", ["/", "/a"], ["a", "a/b"]],
  ["a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a//b"], ["ab", "a/xb", "ax/b"]],
  ["a/**/**/b", ["a/b", "a/x/b"], ["ab"]],
  ["a**b", ["ab", "a/x/b"], ["a", "b"]],
  ["a/**b", ["a/b", "a/x/yb"], ["ab"]],
  ["a**/b", ["a/b", "ax/y/b"], ["ab", "b"]],
  ["x{**/a}", ["xa", "x/a", "xb/a"], ["xba"]],
  ["[ab]", ["a", "b"], ["c", "ab", ""]],
  ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
  ["[!a]", ["b", "/", "é", "😀"], ["a", ""]],
  ["[^a-c]", ["d", "^", "!"], ["a", "b", "c"]],
  ["[!ca-b]", ["d"], ["a", "b", "c"]],
  ["[а-я]", ["ж"], ["z", "Ж"]],
  ["[😀-😂]", ["😁"], ["😃", "\ud83d"]],
  ["[]a]", ["]", "a"], ["[]a]", "b"]],
  ["[!]a]", ["b", "!"], ["]", "a"]],
  ["[-a]", ["-", "a"], ["b"]],
  ["[a-]", ["-", "a"], ["b"]],
  ["[a^!]", ["a", "^", "!"], ["b"]],
  ["[\\]", ["\\"], ["]"]],
  ["[*?{,}]", ["*", "?", "{", ",", "}"], ["a"]],
  ["{a,b}", ["a", "b"], ["{a,b}", "ab", ""]],
  ["{a,b}c{d,e}", ["acd", "bce"], ["abcd", "ac"]],
  ["{a,{b,*c}}d", ["ad", "bd", "cd", "xcd"], ["d", "abd"]],
  ["*.{ts,tsx}", ["a.ts", "b/a.tsx"], ["a.t", "a.ts,tsx"]],
  ["{1..3}", ["1..3"], ["1", "2", "{1..3}"]],
  ["a{,b}", ["ab"], ["a"]],
  ["a{}", ["a"], ["a{}"]],
  ["{a/**,b}", ["a/x", "b"], ["a"]],
  ["{src,test}/**/*.ts", ["src/a.ts", "test/x/a.ts"], ["lib/a.ts", "src/a.js"]],
  ["a,b", ["a,b"], ["a", "b"]],
  ["\\*", ["*"], ["a", "\\*"]],
  ["\\{a\\,b\\}", ["{a,b}"], ["a"]],
  ["{a\\,b,c}", ["a,b", "c"], ["a", "b"]],
  ["a\\/**/b", ["a/b", "a/x/b"], ["ab"]],
  ["\\\\", ["\\"], []],
  ["!foo", ["!foo"], ["foo", "bar"]],
  ["+(a)", ["+(a)"], ["a", "aa"]],
  ["@(a|b)", ["@(a|b)"], ["a"]],
  ["a.b", ["a.b"], ["axb"]],
  ["^a$", ["^a$"], ["a"]],
  ["A", ["A"], ["a"]],
  ["", [""], ["a"]],
];

describe("a glob", () => {
  test.each(table)("%j", (glob, yes, no) => {
    expect(yes.filter((path) => !matches(glob, path))).toEqual([]);
    expect(no.filter((path) => matches(glob, path))).toEqual([]);
  });

  test("answers as globset 0.4.21 answered when it was asked", () => {
    const seen = Object.entries(measured).map(([glob, answer]) => {
      if (answer === null) {
        refusal(glob);
        return [glob, null];
      }
      const all = [...answer.matches, ...answer.others];
      const set = compileGlobSet([glob]);
      const yes = all.filter((path) => set.matches(path));
      const no = all.filter((path) => !set.matches(path));
      return [glob, { matches: yes, others: no }];
    });
    expect(Object.fromEntries(seen)).toEqual(measured);
  });
});

describe("a glob that does not compile is named, and the sentence says what to write", () => {
  test.each([
    [
      "src/[ab",
      'The glob "src/[ab" has a "[" that is never closed; close it with "]", or write "\\[" for the character itself.',
    ],
    ["[]", '"[" that is never closed'],
    ["[!]", '"[" that is never closed'],
    ["{a,b", '"{" that is never closed'],
    ["{a,{b,c}", '"{" that is never closed'],
    ["{[}", '"[" that is never closed'],
    ["a,b}", '"}" that closes nothing'],
    ["{a,b}}", '"}" that closes nothing'],
    ["a\\", "backslash that escapes nothing"],
    ["[z-a]", 'has the range "z-a" in a class, which runs backwards; write "a-z".'],
    ["[a--]", 'range "a--"'],
    ["\ud800", "half of a surrogate pair"],
    ["{".repeat(33) + "}".repeat(33), "nests its braces too deeply; use at most 32 levels"],
  ])("%j", (glob, sentence) => {
    expect(refusal("fine", glob)).toContain(sentence);
  });

  test("and a long one is quoted in part", () => {
    expect(refusal(`[${"a".repeat(5000)}`).length).toBeLessThan(500);
  });

  test("globs of more than 8192 characters together do not compile, and as many do", () => {
    const half = "a".repeat(4096);
    expect(compileGlobSet([half, half]).matches(half)).toBe(true);
    expect(refusal(half, half, "b")).toContain(
      'The glob "b" makes the globs longer than 8192 characters together',
    );
  });

  test("a caller's globs may be half as long", () => {
    const half = "a".repeat(2048);
    expect(compileGlobSet([half, half], maxSetUnits.ofCaller).matches(half)).toBe(true);
    expect(() => compileGlobSet([half, half, "b"], maxSetUnits.ofCaller)).toThrow(
      'The glob "b" makes the globs longer than 4096 characters together',
    );
  });
});

test("a set of none matches nothing", () => {
  const none = compileGlobSet([]);
  expect(none.size).toBe(0);
  expect(["", "a", "a/b"].filter((path) => none.matches(path))).toEqual([]);
});

const codePoints = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)).join("");

describe("globs made to explode", () => {
  const long = "a".repeat(4096);
  const allOf = (part: string) => part.repeat(maxSetUnits.ofOperator / part.length);
  const noise = Array.from({ length: 400 }, (_, i) => "ab"[(i * i + (i >> 3)) % 2]).join("");

  test.each<[what: string, glob: string, path: string, matches: boolean]>([
    ["many stars", `${"*a".repeat(400)}*b`, long, false],
    ["many braces", "{a,b}".repeat(25), "a".repeat(25), true],
    ["many braces with stars", `${"{a,*b,*}".repeat(200)}c`, long, false],
    ["deep braces", `${"{a,{*,".repeat(16)}b${"}}".repeat(16)}c`, long, false],
    ["many folders", `${"**/".repeat(14)}b`, "a/".repeat(2000), false],
    ["many folders with names", `${"**/a/".repeat(100)}b`, "a/".repeat(1000), false],
    ["a star that forgets nothing", `*a${"?".repeat(30)}`, noise, noise.at(-31) === "a"],
    ["all that an operator may write, with a new combination at each step", allOf("?*"), `${long}b`, true],
    ["as much, with classes", `*a${"?".repeat(200)}${"*[a-z]".repeat(1300)}`, `b${long}`, true],
    ["as many symbols as characters", `*[${codePoints(0x4e00, 0x5600)}]`, "丰".repeat(4096), true],
  ])("%s", (_, glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected);
  });

  test("what was forgotten on the way is found again", () => {
    // Every run of 19 characters is a separate combination, and there are more of them than the cache holds.
    const counted = Array.from({ length: 2000 }, (_, i) => i.toString(2)).join("");
    const path = counted.replaceAll("0", "a").replaceAll("1", "b");
    const set = compileGlobSet([`*a${"?".repeat(18)}`]);
    for (const end of [path.length - 2, path.length - 1, path.length]) {
      expect(set.matches(path.slice(0, end))).toBe(path[end - 19] === "a");
    }
  });
});

test("a name in a folder is matched as its whole path is, whatever was asked before", () => {
  const globs = compileGlobSet(["**/*.pem", "a/?", "**/b/**", "[!x]/a*", "ж/é", "x"]);
  const names = ["a", "b", "x", "é", "a.pem", "ж", "a\u{1f600}b", "\ufffd"];
  const folders = [...names, ...names.flatMap((one) => names.map((other) => `${one}/${other}`))];
  for (const folder of folders.flatMap((folder) => ["", folder])) {
    for (const name of names) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const bytes = Buffer.from(`x${name}x`);
      expect(globs.matchesIn(folder, name)).toBe(globs.matches(path));
      expect(globs.matchesBytesIn(folder, bytes, 1, bytes.length - 1)).toBe(globs.matches(path));
    }
  }
});

test("folders are entered from any other one, and from those that were forgotten meanwhile", () => {
  const random = randomFrom(11);
  const name = () => ["a", "ab", "b", "é", "a".repeat(40), "ba".repeat(30)][random.below(6)]!;
  const globs = compileGlobSet(["a/**/b", "**/ab/*", "ab/a", `**/*a${"?".repeat(18)}`]);
  const names: string[] = [];
  for (let i = 0; i < 20_000; i++) {
    names.length = Math.min(names.length, random.below(8));
    while (random.below(3) > 0) names.push(name());
    const [folder, last] = [names.join("/"), name()];
    const path = [...names, last].join("/");
    const expected = globs.matches(path);
    expect([path, globs.matchesIn(folder, last)]).toEqual([path, expected]);
    expect([path, globs.matchesBytesIn(folder, Buffer.from(last), 0, Buffer.byteLength(last))]).toEqual([
      path,
      expected,
    ]);
  }
});

test("bytes that are not UTF-8 are matched as U+FFFD", () => {
  const globs = compileGlobSet(["\ufffd.pem"]);
  expect(globs.matchesBytesIn("", Buffer.from("\xff.pem", "latin1"), 0, 5)).toBe(true);
  expect(globs.matchesBytesIn("", Buffer.from("\xff\xff.pem", "latin1"), 0, 6)).toBe(false);
});
