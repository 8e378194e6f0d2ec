import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../harness/subject.ts";
import { weaknesses } from "./weaknesses.ts";

/** The weaknesses that section 15 of the shell specification calls safe to improve. */
const safe = [
  1, 3, 5, 6, 7, 9, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 30, 31, 32, 33, 34, 35, 37, 38, 39, 40, 41, 42,
  44, 45, 46, 47, 50, 51,
];

test("no weakness that is safe to close is left out", () => {
  expect(weaknesses.map(({ number }) => number)).toEqual(safe);
});

test.each(weaknesses.map((weakness) => [weakness.number, weakness.hole, weakness] as const))(
  "W%d: %s: the tests are there",
  (_, __, { shownBy }) => {
    const missing = Object.entries(shownBy).flatMap(([file, titles]) => {
      const text = readFileSync(join(repository, file), "utf8");
      return titles.filter((title) => !text.includes(`"${title}"`)).map((title) => `${file}: ${title}`);
    });
    expect(missing).toEqual([]);
    expect(Object.values(shownBy).flat()).not.toEqual([]);
  },
);
