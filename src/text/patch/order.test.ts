import { expect, spyOn, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { emptiedFoldersAt, findDependencies } from "./order.ts";
import { parse } from "./patch.test-kit.ts";

const addition = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const deletion = (path: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`;

/** Counts the parts of texts that some work makes. */
function slicesOf<T>(work: () => T): { count: number; value: T } {
  const slice = spyOn(String.prototype, "slice");
  const value = work();
  const { length: count } = slice.mock.calls;
  slice.mockRestore();
  return { count, value };
}

test("the folders above deep new files are not enumerated", () => {
  const patch = parse(
    Array.from({ length: 100 }, (_, at) => addition(`${at}/${"a/".repeat(2000)}f`)).join("") +
      deletion(`5/${"a/".repeat(1000)}a`) +
      deletion("other"),
  );
  const { count, value } = slicesOf(() => runAtOnce(findDependencies(patch)));
  expect(count).toBeLessThan(10);
  expect([...value.removedFirst]).toEqual([patch.files[100]!]);
});

test("each removed file is compared with new ones in a step of its own", () => {
  const patch = parse(
    Array.from({ length: 100 }, (_, at) => deletion(`${at}`) + addition(`n/${at}`)).join(""),
  );
  const steps = findDependencies(patch);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBe(100);
});

test("the folders of removed files are found once each, inner ones first", () => {
  const removed = ["d/a/b/1", "e/x", "d/a/2", "d/a/b/3", "d/4", "dd/5", "d/c/6"];
  expect(runAtOnce(emptiedFoldersAt("d", removed))).toEqual(["d/c", "d/a/b", "d/a", "d"]);
  const deep = `d/${"a/".repeat(250)}`;
  const files = Array.from({ length: 1000 }, (_, at) => `${deep}${at}`);
  const { count, value } = slicesOf(() => runAtOnce(emptiedFoldersAt("d", files)));
  expect([value.length, value[0], value.at(-1)]).toEqual([251, deep.slice(0, -1), "d"]);
  expect(count).toBeLessThan(1500);
});
