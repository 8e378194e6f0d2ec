import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { wordingFor } from "../../calls/contract/wording.ts";
import { renderRead } from "./text.ts";

const wording = wordingFor((id) => id);
const facts = { path: "a", size: 9, mode: 0o644, mtime: 1_700_000_000, is_utf8: true };
const part = (lines: number, total: number | undefined, isMore: boolean) => ({
  ...facts,
  content: "x\n",
  lines_returned: lines,
  ...(total !== undefined && { total_lines: total }),
  more_lines: isMore,
});

test.each([
  ["a whole file", { ...facts, content: "x\ny" }, {}, "x\ny"],
  ["the facts of one byte", { ...facts, size: 1 }, { stat: true }, /^\[1 byte, mode 0644/],
  ["an empty file", { ...facts, size: 0, content: "" }, {}, "[the file is empty]"],
  ["foreign bytes", { ...facts, is_utf8: false, content: "\ufffd" }, {}, /^\ufffd\n\[not valid UTF-8/],
  ["foreign bytes in base64", { ...facts, is_utf8: false, content: "/w==" }, { encoding: "base64" }, "/w=="],
  [
    "a revision on request",
    { ...facts, content: "x", revision: "sha256:0" },
    { revision: true },
    "x\n[revision sha256:0]",
  ],
  ["a revision by the profile", { ...facts, content: "x", revision: "sha256:0" }, {}, "x"],
  [
    "a window",
    part(51, 3000, true),
    { line_from: 10, line_to: 60 },
    "x\n[lines 10 to 60 of 3000; continue with line_from: 61]",
  ],
  [
    "a window of a large file",
    part(2, undefined, true),
    { line_to: 2 },
    "x\n[lines 1 to 2; continue with line_from: 3]",
  ],
  ["a window at the end", part(2, 9, false), { line_from: 8 }, "x\n[lines 8 to 9 of 9]"],
  ["a window of everything", part(2, 2, false), { line_from: 1 }, "x\n"],
  [
    "a window past the end",
    { ...part(0, 7, false), content: "" },
    { line_from: 8 },
    "[no line 8: the file has 7]",
  ],
  ["the last lines", part(2, 9, false), { tail: 2 }, "x\n[lines 8 to 9 of 9]"],
  ["the last lines of a large file", part(2, undefined, false), { tail: 2 }, "x\n[the last 2 lines]"],
  ["all of the last lines", part(2, 2, false), { tail: 5 }, "x\n"],
  ["numbers before everything", part(2, 2, false), { numbered: true }, "x\n"],
  [
    "stat",
    { ...facts, total_lines: 3, revision: "sha256:0" },
    { stat: true },
    "[9 bytes, 3 lines, mode 0644, changed 2023-11-14T22:13:20Z]\n[revision sha256:0]",
  ],
  [
    "stat of a file that was not read",
    { path: "a", size: 9, mode: 0o644, mtime: 1_700_000_000 },
    { stat: true },
    "[9 bytes, lines not counted (over max_read_bytes), mode 0644, changed 2023-11-14T22:13:20Z]",
  ],
  [
    "stat of a file from another age",
    { ...facts, mtime: 2 ** 53 },
    { stat: true },
    "[9 bytes, mode 0644, changed 9007199254740992 s after 1970]",
  ],
  ["null is no window", part(2, 9, false), { tail: 2, line_from: null as never }, "x\n[lines 8 to 9 of 9]"],
  [
    "stat of bytes",
    { ...facts, is_utf8: false },
    { stat: true },
    "[9 bytes, mode 0644, changed 2023-11-14T22:13:20Z, not UTF-8]",
  ],
] as const)("%s", (_, answer, request, text) => {
  const shown = runAtOnce(renderRead(answer, wording, request));
  if (typeof text === "string") expect(shown).toBe(text);
  else expect(shown).toMatch(text);
});

test("thousands of files are rendered in steps", () => {
  const steps = renderRead(
    { results: Array.from({ length: 5000 }, () => ({ ...facts, success: true })) },
    wording,
    {},
  );
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThanOrEqual(50);
});

test("several files stand under their names", () => {
  const error = JSON.stringify({ code: "C211", message: '"b" is not found.', reason: "no_such_path" });
  const results = [
    { ...facts, success: true, content: "x\n" },
    { path: "b", success: false, error },
  ];
  expect(runAtOnce(renderRead({ results }, wording, {}))).toBe(
    '1 of 2 read; failed: b\n==> a\nx\n==> b\nC211 no_such_path: "b" is not found.',
  );
});
