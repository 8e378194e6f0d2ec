import { expect, test } from "bun:test";
import type { UndoneCheckpoint } from "./answer.ts";
import { renderGone } from "./gone.ts";
import { renderUndo } from "./text.ts";

const nothing = { restored: [], removed: [], skipped: [] };
const form = { isTrial: true, isLimited: false };

test("checkpoints with many paths are rendered in steps", () => {
  const restored = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(100)}`);
  const undone: UndoneCheckpoint[] = Array.from({ length: 500 }, (_, seq) => ({ ...nothing, seq, restored }));
  const rendering = renderUndo({ undone, conflicts: [] }, form, (text) => text);
  let steps = 0;
  let step = rendering.next();
  for (; !step.done; step = rendering.next()) steps++;
  expect(steps).toBeGreaterThan(50);
  expect(step.value.split("\n").slice(-2)).toEqual([`  restored: ${restored[99]}`, "Would be undone."]);
});

test("only the paths that a reason names are rendered", () => {
  let reads = 0;
  const gone = Array.from({ length: 50_000 }, (_, index) => ({
    by: 7,
    get path() {
      reads++;
      return `f${index}`;
    },
  }));
  expect(renderGone([{ seq: 1 }], gone)).toBe(
    "what #1 changed is no longer there. f0, f1, f2 and others: changed since by #7.",
  );
  expect(reads).toBe(4);
});
