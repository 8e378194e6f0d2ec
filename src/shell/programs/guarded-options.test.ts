import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findGuarded } from "./guarded-options.ts";
import { defaultAllowlist, makePolicy } from "./policy.ts";

const found = (line: string) => {
  const [name = "", ...args] = line.split(" ");
  return findGuarded(name, [name, ...args]);
};

test.each([
  ["sort -o x", "-o"],
  ["sort -ox", "-ox"],
  ["sort -ro x", "-ro"],
  ["sort x -o x", "-o"],
  ["sort -S 10K --compress-program=x", "--compress-program=x"],
  ["sort --comp x", "--comp"],
  ["sort --outp=x", "--outp=x"],
  ["sort --output x", "--output"],
  ["sort -T /x", "-T"],
  ["sort -nT/x", "-nT/x"],
  ["sort --temp=/x", "--temp=/x"],
  ["sort --files0-from -- -o x", "-o"],
  ["sort -k 1 -o x", "-o"],
  ["uniq a b", "b"],
  ["uniq -c a b", "b"],
  ["uniq -f 1 a b", "b"],
  ["uniq -f1 a b", "b"],
  ["uniq -cf 1 a b", "b"],
  ["uniq --skip-f 1 a b", "b"],
  ["uniq --skip-fields=1 a b", "b"],
  ["uniq -- a b", "b"],
  ["uniq - b", "b"],
  ["uniq -c 1 b", "b"],
  ["date -s now", "-s"],
  ["date -us now", "-us"],
  ["date --set=now", "--set=now"],
  ["date --s now", "--s"],
  ["date 01020304", "01020304"],
  ["date -u 01020304", "01020304"],
  ["date -d now 01020304", "01020304"],
  ["hostname x", "x"],
  ["hostname -F x", "-F"],
  ["hostname --file=x", "--file=x"],
  ["hostname -b", "-b"],
])("%s is refused", (line, argument) => {
  expect(found(line)).toBe(argument);
});

test.each([
  "sort",
  "sort -rn -k 2 -t : a b",
  "sort -to -k1,2 a",
  "sort --reverse --check a",
  "sort --key 2 a",
  "sort -",
  "uniq",
  "uniq -c a",
  "uniq -f 1 -s 2 a",
  "uniq --check-chars 3 a",
  "uniq -w3 -",
  "date",
  "date +%s",
  "date -u +%F",
  "date -Iseconds",
  "date --iso-8601=seconds",
  "date -d yesterday +%s",
  "date -dsunday",
  "date --date=sunday",
  "date --rfc-3339 seconds",
  "date -r file",
  "hostname",
  "hostname -f",
  "hostname --fqdn -I",
  "grep -o x",
  "constructor -o",
])("%s passes", (line) => {
  expect(found(line)).toBeUndefined();
});

describe("every spelling is refused", () => {
  const harmless = fc.array(fc.constantFrom("-r", "-n", "-k", "2", "a", "--", "-t", "--reverse", "--check"), {
    maxLength: 5,
  });

  test("of a long option of sort", () => {
    const spelling = fc
      .constantFrom(
        ["compress-program", 3] as const,
        ["output", 1] as const,
        ["temporary-directory", 1] as const,
      )
      .chain(([name, least]) =>
        fc.integer({ min: least, max: name.length }).map((end) => `--${name.slice(0, end)}`),
      );
    const option = fc.oneof(
      spelling,
      spelling.map((name) => `${name}=x`),
    );
    fc.assert(
      fc.property(option, harmless, harmless, (word, before, after) => {
        expect(findGuarded("sort", ["sort", ...before, word, "x", ...after])).toBe(word);
      }),
    );
  });

  test("of a short one, in a bundle", () => {
    const bundle = fc.tuple(
      fc.string({ unit: fc.constantFrom(..."bcdfghirsuz") }),
      fc.constantFrom("o", "T"),
      fc.string(),
    );
    fc.assert(
      fc.property(bundle, harmless, ([flags, letter, rest], before) => {
        const word = `-${flags}${letter}${rest}`;
        expect(findGuarded("sort", ["sort", ...before, word])).toBe(word);
      }),
    );
  });

  test("of a second operand of uniq", () => {
    const flags = fc.array(
      fc.constantFrom(["-c"], ["-f", "1"], ["-s2"], ["--check-chars=3"], ["--skip-c", "4"], ["--"]),
    );
    fc.assert(
      fc.property(flags, flags, (some, others) => {
        expect(findGuarded("uniq", ["uniq", ...some.flat(), "in", ...others.flat(), "out"])).toBeDefined();
      }),
    );
  });
});

describe("the guard", () => {
  const admit = (allowlist: readonly string[] | undefined, ...argv: [string, ...string[]]) =>
    makePolicy({ denylist: [], allowlist, programFolders: [], writableRoots: [] }).admit(argv, {
      folder: "/",
      path: undefined,
    });

  test("holds for the published list, however it came to be configured, and for paths", () => {
    for (const list of [undefined, [...defaultAllowlist]]) {
      expect(() => admit(list, "sort", "-o", "x")).toThrow(
        /^command 'sort' not allowed with '-o'.*; leave it out/,
      );
      expect(() => admit(list, "/usr/bin/sort", "-o", "x")).toThrow("not allowed with '-o'");
      expect(admit(list, "sort", "-r").argv).toEqual(["sort", "-r"]);
    }
  });

  test("does not hold for a list that the operator wrote, or none", () => {
    expect(admit(["sort"], "sort", "-o", "x").argv).toEqual(["sort", "-o", "x"]);
    expect(admit([], "sort", "-o", "x").argv).toEqual(["sort", "-o", "x"]);
  });
});
