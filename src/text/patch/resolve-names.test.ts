import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { parsePatch } from "./parse.ts";
import { resolveNames } from "./resolve-names.ts";

test("names are resolved in a step for each file, and each path is looked up once", () => {
  const names = Array.from({ length: 50 }, (_, index) => `${"d/".repeat(40)}${index}`);
  const text = names.map((name) => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-a\n+b\n`).join("");
  const patch = runAtOnce(parsePatch(Buffer.from(text), "unified"));
  const lookups = new Map<string, number>();
  let [steps, waiting] = [0, 0];
  let mostAtOnce = 0;
  const exists = (path: string) => {
    lookups.set(path, (lookups.get(path) ?? 0) + 1);
    mostAtOnce = Math.max(mostAtOnce, ++waiting);
    // The first file is there without the first 32 parts, the last without another number of them.
    return path !== names.at(-1) && path.split("/").length < 10;
  };
  const resolving = resolveNames(patch, { strip: undefined, exists, isTaken: exists });
  for (let next = resolving.next(); !next.done; next = resolving.next()) {
    steps++;
    waiting = 0;
  }
  expect(steps).toBeGreaterThanOrEqual(2 * names.length);
  expect(mostAtOnce).toBe(1);
  expect(Math.max(...lookups.values())).toBe(1);
});
