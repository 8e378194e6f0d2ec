import { expect, test } from "bun:test";
import { type Ahead, Pacing } from "./pacing.ts";

const maxMatches = 1000;

/**
 * Returns the number of files that a search submits until its answer is full. `matchesIn` returns how many
 * matches each file adds.
 */
function submitted(files: number, matchesIn: (file: number) => number, { wantsContent = true } = {}) {
  const answer = { wantsContent, fill: 0 };
  const pacing = new Pacing({ batchesAtOnce: 8, held: { folders: 0 }, active: 1 }, answer);
  const pending: Ahead[] = [];
  let [next, taken, matches, most] = [0, 0, 0, 0];
  while (matches <= maxMatches && taken < files) {
    while (next < files && pacing.maySubmit(pending)) {
      const count = Math.min(pacing.nextSize(pending).files, files - next);
      pending.push({ batch: { count }, isSettled: false, units: 0 });
      next += count;
      most = Math.max(most, next - taken);
    }
    const { count } = pending.shift()!.batch;
    pacing.speedUp();
    for (let end = taken + count; taken < end; taken++) matches += matchesIn(taken);
    answer.fill = Math.min(1, matches / maxMatches);
    pacing.note(count);
  }
  return { files: next, most };
}

test("little is submitted beyond the files that fill the answer", () => {
  expect(submitted(60_000, () => 1).files).toBeLessThan(1001 + 128);
  expect(submitted(60_000, () => 10).files).toBeLessThan(101 + 128);
  expect(submitted(60_000, (file) => Number(file % 10 === 0)).files).toBeLessThan(10_001 + 128);
  expect(submitted(60_000, () => 0).files).toBe(60_000);
});

test("where no more is found it goes far ahead again, so that no thread waits", () => {
  const { files, most } = submitted(60_000, (file) => Number(file < 999));
  expect(files).toBe(60_000);
  expect(most).toBeGreaterThan(2000);
});

test("paths are cheap, and more of them are submitted", () => {
  const { files } = submitted(60_000, () => 1, { wantsContent: false });
  expect(files).toBeLessThan(1001 + 16 * 128);
});
