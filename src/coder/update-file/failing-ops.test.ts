import { expect, test } from "bun:test";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { mayBeForAny } from "./failing-ops.ts";

const edit = (old_str: string) => ({ op: "str_replace", old_str, new_str: "", replace_all: false }) as const;

const linesWith = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${name}${index}`).join("\n");

function stepsOf<T>(steps: Steps<T>): { value: T; yields: number } {
  for (let yields = 0; ; yields++) {
    const { done, value } = steps.next();
    if (done) return { value, yields };
  }
}

test("an op may be meant for a text of which a line is a part of one of its lines, or the reverse", () => {
  const mayBeFor = (old: string, ...written: string[]) => runAtOnce(mayBeForAny(edit(old), written));
  expect(mayBeFor("a\n  const one = 1;\n", "x", "if (y)\n\tconst one = 1; // y")).toBe(true);
  expect(mayBeFor("return const one = 1;", "  const one = 1;")).toBe(true);
  expect(mayBeFor("a\n\nb", "c\n\nd")).toBe(false);
  expect(mayBeFor("a", "")).toBe(false);
});

test("lines are compared one in each step, and not all those of long texts", () => {
  const few = stepsOf(mayBeForAny(edit(linesWith("a", 1000)), [linesWith("b", 1000)]));
  expect(few).toEqual({ value: false, yields: 2000 });
  const many = stepsOf(mayBeForAny(edit(linesWith("a", 20_000)), [linesWith("b", 20_000)]));
  expect(many).toEqual({ value: true, yields: 0 });
});
