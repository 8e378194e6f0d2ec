import { expect, test } from "bun:test";
import fc from "fast-check";
import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";
import { type LaterEffect, type LaterHistory, pastOf, StepsByPath } from "./step-effects.ts";

const file = (revision: string): RecordedState => ({ kind: "file", mode: 0o644, revision });

/**
 * Reads later steps such as `3 undo B A`, each with its number, its kind and the contents before and after
 * it, `?` for an unknown one.
 */
const effectsOf = (steps: readonly string[]): LaterEffect[] =>
  steps.map((step) => {
    const [seq, kind, before, after] = step.split(" ") as [string, string, string, string];
    const [was, is] = [before, after].map((text) => (text === "?" ? undefined : file(text)));
    return { seq: Number(seq), isUndo: kind === "undo", before: was, after: is, isOfMode: false };
  });

/** The fate of the change from `A` to `B` by #1, when the file is `A` again. */
const pasts: Record<string, readonly [steps: readonly string[], past: LaterHistory | undefined]> = {
  "nothing came later": [[], {}],
  "an undo": [["2 undo B A"], { undoneBy: 2 }],
  "a call that changed it back": [["2 call B A"], { by: 2 }],
  "an undo over a later change": [["2 call B C", "3 undo C A"], { undoneBy: 3 }],
  "an undo, and an edit that was undone": [["2 undo B A", "3 call A C", "4 undo C A"], { undoneBy: 2 }],
  "a redo, and another program": [["2 undo B A", "3 undo A B"], { undoneBy: 2, redoneBy: 3 }],
  "a redo over a later change, and another program": [
    ["2 call B C", "3 undo C A", "4 undo A C"],
    { undoneBy: 3, redoneBy: 4 },
  ],
  "a redo, and an undo": [["2 undo B A", "3 undo A B", "4 undo B A"], { undoneBy: 4 }],
  "a call that made it again, and another program": [["2 undo B A", "3 call A B"], {}],
  "another program, before an edit that was undone": [["2 call A C", "3 undo C A"], {}],
  "another program that brought it back, before an undo": [["2 undo B A", "3 undo B A"], { undoneBy: 3 }],
  "a step whose states are not recorded": [["2 undo ? ?"], undefined],
};

test.each(Object.entries(pasts))("%s", (_, [steps, past]) => {
  const own = { before: file("A"), after: file("B"), isOfMode: false };
  expect(pastOf(own, effectsOf(steps))).toEqual(past);
});

const path = fc.constantFrom("a", "a/b", "a/b/c", "ab", "d");
const steps = fc
  .array(fc.record({ path, from: fc.option(path, { nil: undefined }) }), { maxLength: 8 })
  .map((all) => all as unknown as RecordedStep[]);

test("the steps at a path are those there and in the folders above it, in order", async () => {
  await fc.assert(
    fc.asyncProperty(steps, path, async (all, at) => {
      const byPath = new StepsByPath();
      await byPath.add(all, async () => {});
      const isMet = (end: string) => at === end || at.startsWith(`${end}/`);
      const met = all.filter((step) => [step.path, step.from ?? step.path].some(isMet));
      expect(byPath.stepsAt(at)).toEqual(met);
      expect(byPath.lastAt(at)).toEqual(met.at(-1));
    }),
  );
});
