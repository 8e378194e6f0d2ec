import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { refuseEdit } from "./edit-errors.ts";
import { explainMissing } from "./explain-miss.ts";

const missOf = (file: string, sent: string) => runAtOnce(explainMissing(Buffer.from(file), sent));

test.each([
  [
    "last, in case",
    "const first = 1;\nconst second = 2;\nreturn x\nend\n",
    "const first = 1;\nconst second = 2;\nRETURN X\n",
    3,
    "return·x",
    "RETURN·X",
  ],
  [
    "last, within a line",
    "const first = 1;\nconst second = 2;\nreturn x;\nend\n",
    "const first = 1;\nconst second = 2;\nRETURN",
    3,
    "return·x;",
    "RETURN",
  ],
  [
    "first, in case",
    "let x\nreturn x\nconst first = 1;\nconst second = 2;\n",
    "RETURN X\nconst first = 1;\nconst second = 2;\n",
    2,
    "return·x",
    "RETURN·X",
  ],
  [
    "first, in all",
    "let x\n{}\nconst first = 1;\nconst second = 2;\n",
    "RETURN X\nconst first = 1;\nconst second = 2;\n",
    2,
    "{}",
    "RETURN·X",
  ],
  [
    "last, in all",
    "let x\nconst first = 1;\nconst second = 2;\n{}\n",
    "const first = 1;\nconst second = 2;\nRETURN X\n",
    4,
    "{}",
    "RETURN·X",
  ],
  [
    "in the middle, before a changed one",
    "const first = 1;\n}\nlet x = 1\n",
    "const first = 1;\n)\nlet x = 2\n",
    2,
    "}",
    ")",
  ],
  ["a short one", "a b c d e f\nx\ng h i j k\n", "a b c d e f\nX\ng h i j k\n", 2, "x", "X"],
] as const)("the first unequal line is named: %s", (_, file, sent, ...[number, line, other]) => {
  const { message } = refuseEdit.textNotFound({ path: "a.ts", index: 0 }, missOf(file, sent));
  expect(message).toContain(`Line ${number} is "${line}", and old_str has "${other}"`);
});

test("a text in another case differs in that", () => {
  const { message } = refuseEdit.textNotFound(
    { path: "a", index: 0 },
    missOf("const first = 1;\nreturn x\n", "Const first = 1;\nreturn X\n"),
  );
  expect(message).toContain("it differs in upper and lower case. Line 1 is ");
});

test("a text that goes on after the end of the file differs there", () => {
  const sentence = (file: string, sent: string) =>
    refuseEdit.textNotFound({ path: "a", index: 0 }, missOf(file, sent)).message;
  for (const end of ["", "\n"])
    expect(sentence(`first line\nsecond line${end}`, "first line\nsecond line\nmore of it\n")).toContain(
      'The file ends after line 2, and old_str goes on with "more·of·it" (· is a space).',
    );
});

test("the line that is named is that of the file, and the one sent in its place differs from it", () => {
  const word = fc.constantFrom(
    "alpha",
    "return",
    "const value",
    "}",
    "if (x) {",
    "",
    "  done();",
    "MAX_SIZE",
    "x",
  );
  const lines = fc.array(
    fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join(" ")),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  const change = fc.constantFrom(
    (line: string) => line.toUpperCase(),
    (line: string) => line.toLowerCase(),
    (line: string) => `${line};`,
    () => "something else",
  );
  const part = fc.record({ from: fc.nat(11), count: fc.integer({ min: 1, max: 6 }), at: fc.nat(5) });
  fc.assert(
    fc.property(lines, part, change, fc.constantFrom("", "\n"), (file, { from, count, at }, changed, end) => {
      const body = `${file.join("\n")}\n`;
      const old = file.slice(from, from + count);
      const sent = old.map((line, index) => (index === at ? changed(line) : line)).join("\n") + end;
      if (sent === "" || body.includes(sent)) return;
      const { pair } = missOf(body, sent);
      if (pair === undefined) return;
      expect(pair.line).toBe(file[pair.number - 1]);
      expect(pair.line).not.toBe(pair.sent);
      expect(sent.split("\n")).toContain(pair.sent);
    }),
    { numRuns: 2000 },
  );
});
