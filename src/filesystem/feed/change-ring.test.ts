import { expect, test } from "bun:test";
import { gap } from "./change.ts";
import { ChangeRing } from "./change-ring.ts";

const file = (path: string) => ({ ...gap, path });

test("a ring keeps the newest changes, and knows which it has", () => {
  const ring = new ChangeRing({ changes: 3, characters: 1000 });
  expect([ring.newest, ring.follows(0), ring.follows(1)]).toEqual([0, true, false]);
  for (const path of ["a", "b", "c"]) ring.add(file(path));
  expect([ring.follows(0), ring.at(1).path, ring.at(3)]).toEqual([true, "a", { ...file("c"), seq: 3 }]);
  ring.add(file("d"));
  expect([ring.follows(0), ring.follows(1), ring.follows(4), ring.follows(5)]).toEqual([
    ...[false, true, true, false],
  ]);
  expect([2, 3, 4].map((seq) => ring.at(seq).path)).toEqual(["b", "c", "d"]);
});

test("long paths leave room for fewer changes, and the newest is always kept", () => {
  const ring = new ChangeRing({ changes: 100, characters: 10 });
  for (const path of ["aaaa", "bbbb", "cccc"]) ring.add(file(path));
  expect([ring.follows(0), ring.follows(1)]).toEqual([false, true]);
  ring.add({ ...file("d".repeat(50)), from: "e" });
  expect([ring.follows(2), ring.follows(3), ring.at(4).path.length]).toEqual([false, true, 50]);
  ring.add(file("f"));
  expect([ring.follows(3), ring.follows(4)]).toEqual([false, true]);
});
