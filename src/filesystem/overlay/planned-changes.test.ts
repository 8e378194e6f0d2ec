import { expect, test } from "bun:test";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { PlannedFixture } from "./planned.test-kit.ts";
import { newFolder, PlannedChanges, type PlannedPlace } from "./planned-changes.ts";

/** Takes steps, and returns their number. */
function countSteps(steps: Steps<void>): number {
  let count = 1;
  while (!steps.next().done) count++;
  return count;
}

test.each(backends)("the copy of a folder gets its entries in a step for each, over %s", (backend) => {
  const tree = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`s/${index}`, ""]));
  using fixture = new PlannedFixture(backend, tree);
  const changes = new PlannedChanges(fixture.jailed, { isTrial: false });
  const admit = (path: string) =>
    fixture.jailed.over(changes).admit(path, { changes: "tree", mayBeMissing: true }) as PlannedPlace;
  const copy = (from: string, to: string) => {
    using source = admit(from);
    using target = admit(to);
    return countSteps(changes.copy(source, target));
  };
  const make = (path: string) => {
    using place = admit(path);
    return countSteps(changes.place(place, newFolder(undefined)));
  };
  const taken = [copy("s", "t"), make("t/new"), make("t/newer"), copy("t", "u")];
  expect(taken).toEqual([1, 101, 1, 103]);
});
