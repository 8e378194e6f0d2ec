import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { PathLines } from "./path-lines.ts";

test("a call joins the lines of thousands of paths in as many steps, and leaves them all", async () => {
  const lines = new PathLines();
  const paths = Array.from({ length: 5000 }, (_, index) => `a/b${index % 100}/c/${index}`);
  const joining = lines.join(paths);
  let steps = 1;
  let outcome = joining.next();
  for (; !outcome.done; outcome = joining.next()) steps++;
  const first = outcome.value;
  const second = runAtOnce(lines.join(["a"]));
  expect(steps).toBe(paths.length);
  expect(lines.blocking(first)).toBeUndefined();
  expect(lines.blocking(second)).toBe(first);
  first.leave();
  await first.ended;
  expect(lines.blocking(second)).toBeUndefined();
  second.leave();
  expect(lines.areFree(["", ...paths])).toBe(true);
});

test("calls leave in steps while others join and leave, and no line is torn", async () => {
  const lines = new PathLines();
  const paths = Array.from({ length: 20_000 }, (_, index) => `a/${index}`);
  const turns = Array.from({ length: 8 }, () => runAtOnce(lines.join(paths)));
  // Each begins to leave before its neighbours have left.
  for (const turn of [...turns.slice(4), ...turns.slice(0, 4)]) turn.leave();
  const last = runAtOnce(lines.join(paths));
  await Promise.all(turns.map(({ ended }) => ended));
  expect(lines.blocking(last)).toBeUndefined();
  last.leave();
  await last.ended;
  expect(lines.areFree(["a"])).toBe(true);
});
