import { expect, test } from "bun:test";
import fc from "fast-check";
import { NodeQuota } from "./node-quota.ts";

test("whole depths first, then the beginning of the next one", () => {
  const quota = new NodeQuota(7);
  quota.count(1, 4);
  quota.count(2, 10);
  expect([1, 2, 3].map((depth) => quota.admits(depth))).toEqual([true, true, false]);
  expect([quota.take(1, 4), quota.take(2, 1), quota.take(2, 5), quota.take(2, 4)]).toEqual([4, 1, 1, 0]);
});

test("what was not counted is not shown, though it be there meanwhile", () => {
  const quota = new NodeQuota(100);
  quota.count(1, 2);
  expect([quota.take(1, 3), quota.take(2, 1)]).toEqual([2, 0]);
});

test("never more than max_nodes, and all of them where there are so many", () => {
  const folders = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat({ max: 20 })), { maxLength: 20 });
  fc.assert(
    fc.property(fc.nat({ max: 60 }), folders, (maxNodes, folders) => {
      const quota = new NodeQuota(maxNodes);
      for (const [depth, nodes] of folders) quota.count(depth, nodes);
      const shown = folders.reduce((sum, [depth, nodes]) => sum + quota.take(depth, nodes), 1);
      const all = folders.reduce((sum, [, nodes]) => sum + nodes, 1);
      expect(shown).toBe(Math.min(Math.max(1, maxNodes), all));
    }),
  );
});
