import { expect, test } from "bun:test";
import { Refusal, refuse } from "../../base/errors.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { CoderContext } from "../define.ts";
import { Failures } from "./failures.ts";

function open() {
  let pauses = 0;
  const jail = { roots: [{ name: "", hostPath: "/base" }], scope: undefined };
  const context = { jail, profile: { explained_errors: true }, deadline: deadlineIn(10_000) };
  const failures = new Failures(context as unknown as CoderContext, async () => void pauses++);
  const made: number[] = [];
  const attempt = (index: number, paths: string[], isFailing = false) =>
    failures.attempt({
      index,
      paths,
      async make() {
        made.push(index);
        if (isFailing) throw refuse.notAFolder(paths[0]!);
      },
    });
  return { failures, made, attempt, pausesOf: () => pauses };
}

test("changes about a path of one that fails are left out, with a pause after each", async () => {
  const { failures, made, attempt, pausesOf } = open();
  await attempt(0, ["a/b"], true);
  const others = ["ab", "a/bc", "A/b"];
  for (const [index, path] of others.entries()) await attempt(index + 1, [path]);
  expect([made, pausesOf()]).toEqual([[0, 1, 2, 3], 0]);
  const same = ["a/b", "./a//b", "/base/a/b/c", "a"];
  for (const [index, path] of same.entries()) await attempt(index + 4, [path]);
  expect([made, pausesOf()]).toEqual([[0, 1, 2, 3], 4]);
  // It may be anywhere, and so may what follows on it.
  await attempt(8, ["c/../d"]);
  await attempt(9, ["e"]);
  expect([made, pausesOf()]).toEqual([[0, 1, 2, 3], 6]);
  expect(() => failures.end()).toThrow(Refusal);
});
