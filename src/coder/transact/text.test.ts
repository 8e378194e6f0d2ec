import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { renderTransacted } from "./text.ts";

const render = (answer: Parameters<typeof renderTransacted>[0]): string =>
  runAtOnce(renderTransacted(answer));

test("each change has its line, with what it changed in a file below it", () => {
  const echoes = [{ op_index: 0, from_line: 1, lines: ["one", "two"], total_replacements: 1 }];
  const results = [
    { op: "create", path: "a", bytes_written: 2, revision: "r" },
    { op: "update", path: "b", applied: 1, new_line_count: 2, echoes, echoes_truncated: false },
    { op: "delete", path: "c", removed: true },
    { op: "delete", path: "d", removed: false },
    { op: "move", from: "e", to: "f", moved: true },
    { op: "move", from: "g", to: "./g", moved: false },
    { op: "copy", from: "h", to: "i", copied: true },
    { op: "copy", from: "j", to: "./j", copied: false },
    { op: "make-folder", path: "k", created: true },
    { op: "make-folder", path: "l", created: false },
    { op: "chmod", path: "m", mode: "0755" },
    { op: "chmod", path: "n", mode: "0644", unchanged: true },
  ];
  expect(render({ committed: true, results, transaction: "0f" }).split("\n")).toEqual([
    "a: created, 2 bytes",
    "b: 1 op applied, 2 lines now",
    "1→one",
    "2→two",
    "c: removed",
    "d: was not there",
    "e: moved to f",
    "g: is there already",
    "h: copied to i",
    "j: is there already",
    "k: created",
    "l: was there already",
    "m: mode 0755 set",
    "n: mode 0644 is set already",
    "transaction 0f",
  ]);
});

test("what was only tried has a plan, and what changes nothing says so", () => {
  expect(render({ committed: false, results: [], plan: "0f" })).toBe("plan 0f");
  expect(render({ committed: true, results: [] })).toBe("nothing had to be changed");
});
