import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { ShownFiles } from "./shown-files.ts";

const anna = { session: "a" };

test("the files that were shown last are remembered, for each author", () => {
  let position = 0;
  const shown = new ShownFiles(() => position, 2);
  shown.note(anna, "one", "1");
  position = 7;
  shown.note({ session: "b" }, "one", "2");
  shown.note(anna, "one", "3");
  expect(shown.at(anna, "one")).toEqual({ revision: "3", position: 7 });
  shown.note(anna, "two", "4");
  expect(shown.at({ session: "b" }, "one")).toBeUndefined();
  expect(shown.at(anna, "one")?.revision).toBe("3");
  shown.note(anna, "one", undefined);
  expect(shown.at(anna, "one")).toBeUndefined();
  shown.note({ client: "anna 1.0" }, "two", "5");
  expect(shown.at({ client: "anna 1.0" }, "two")).toBeUndefined();
});

test("of each file the last line that a search has found is remembered, and little of it", () => {
  const shown = new ShownFiles(() => 3);
  const found = (path: string, line: number, text: string) => ({ path, line, text });
  shown.note(anna, "b", "1");
  const lines = [
    found("a", 1, "first"),
    found("a", 7, `last ${"x".repeat(1000)}`),
    found("b", 2, "…of a long line"),
    found("c", 3, "cut…"),
    found("d", 4, "two\r\nlines"),
  ];
  runAtOnce(shown.noteFound(anna, lines));
  expect(shown.at(anna, "a")).toEqual({ line: { number: 7, start: `last ${"x".repeat(59)}` }, position: 3 });
  expect(shown.at(anna, "b")).toBeUndefined();
  expect(shown.at(anna, "c")?.line?.start).toBe("cut");
  expect(shown.at(anna, "d")?.line?.start).toBe("two");
});

test("lines of another content are remembered beside the earlier one, up to a number of ranges", () => {
  const shown = new ShownFiles(() => 1);
  const range = (from: number) => ({ from, to: from + 1 });
  const noteLines = (revision: string, from: number) =>
    shown.noteLines(anna, "a", { revision, ranges: [range(from)] });
  noteLines("1", 1);
  expect(shown.at(anna, "a")).toEqual({ revision: "1", position: 1 });
  noteLines("2", 1);
  noteLines("2", 9);
  const ranges = [range(1), range(9)];
  expect(shown.at(anna, "a")).toEqual({ revision: "1", position: 1, later: { revision: "2", ranges } });
  noteLines("3", 5);
  expect(shown.at(anna, "a")?.later).toEqual({ revision: "3", ranges: [range(5)] });
  for (let from = 1; from <= 32; from++) noteLines("3", from);
  expect(shown.at(anna, "a")).toEqual({ revision: "3", position: 1 });
});

test("of very many files that a search has found, the last ones are noted, in steps", () => {
  const found = (path: number) => ({ path: String(path), line: 1, text: "x" });
  const shown = new ShownFiles(() => 3, 2);
  let looks = 0;
  const lines = Array.from({ length: 10_000 }, (_, index) => found(index)).map((line) => ({
    ...line,
    get text() {
      looks++;
      return line.text;
    },
  }));
  runAtOnce(shown.noteFound(anna, lines));
  expect([looks, shown.at(anna, "9997"), shown.at(anna, "9998")?.line?.number]).toEqual([2, undefined, 1]);
  const all = new ShownFiles(() => 3).noteFound(anna, lines);
  let steps = 0;
  while (!all.next().done) steps++;
  expect(steps).toBeGreaterThan(30);
  runAtOnce(shown.noteFound(anna, lines, { areComparable: false }));
  expect(shown.at(anna, "9998")).toBeUndefined();
});
