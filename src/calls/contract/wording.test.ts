import { expect, test } from "bun:test";
import { wordingFor } from "./wording.ts";

const { failure, sentence } = wordingFor((id) => id.toUpperCase());
const wire = (parts: object) => JSON.stringify({ code: "C210", message: "No.", ...parts });

test("functions are named as the reader knows them, but for what the caller sent", () => {
  expect(sentence("list it with coder::list-folder, or shell::fs::ls.")).toBe(
    "list it with CODER::LIST-FOLDER, or SHELL::FS::LS.",
  );
  expect(sentence('"a \\" coder::tree" is none; send coder::tree')).toBe(
    '"a \\" coder::tree" is none; send CODER::TREE',
  );
});

test("a quote that is not closed quotes nothing, and is tried once", () => {
  const escaped = '"\\'.repeat(200_000);
  expect(sentence(`"a" ${escaped} coder::tree`)).toBe(`"a" ${escaped} CODER::TREE`);
  const details = { total_lines: 3 };
  const message = `"3" ${escaped} 3`;
  expect(failure({ code: "C213", message, details })).toBe(`C213: ${message}`);
});

test("an error is its code, its reason and its sentence", () => {
  expect(failure(wire({ reason: "invalid_argument" }))).toBe("C210 invalid_argument: No.");
  expect(failure({ code: "C210", message: "Send coder::tree." })).toBe("C210: Send CODER::TREE.");
});

test.each(["a sentence about shell::exec", "{", '{"code":1}', '{"message":"m"}'])(
  "prose stays: %s",
  (prose) => {
    expect(failure(prose)).toBe(sentence(prose));
  },
);

test("a path stands before a sentence that does not name it", () => {
  expect(failure(wire({}), "a.txt")).toBe("a.txt: C210: No.");
  expect(failure(wire({ message: 'No "a.txt".' }), "a.txt")).toBe('C210: No "a.txt".');
  expect(failure("prose", "a.txt")).toBe("a.txt: prose");
});

test("numbers that the sentence says are not said again", () => {
  const details = { size: 12, total_lines: 3, line_to: 5 };
  expect(failure({ code: "C213", message: '"a-3.txt" has 12 bytes, up to 50.', details })).toBe(
    'C213: "a-3.txt" has 12 bytes, up to 50.\ntotal_lines: 3\nline_to: 5',
  );
});

test("details are lines below: values, and pieces of files with the numbers of their lines", () => {
  const details = {
    path: "a.txt",
    expected: "sha256:1",
    differs: "none",
    current: "sha256:0",
    window: { from_line: 9, content: "one\r\ntwo\n" },
    candidates: [
      { from_line: 3, to_line: 4, similarity: 0.871, text: "\tx\n\ty" },
      { from_line: 8, to_line: 8, similarity: 1, text: "x" },
    ],
    scope: { root: "." },
  };
  expect(failure({ code: "C221", message: 'No "a.txt".', details }).split("\n")).toEqual([
    'C221: No "a.txt".',
    "current: sha256:0",
    "window from line 9:",
    "9→one\r",
    "10→two",
    "candidate at line 3, 87 % alike:",
    "3→\tx",
    "4→\ty",
    "candidate at line 8:",
    "8→x",
    'scope: {"root":"."}',
  ]);
});
