import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { FeedChange } from "./change.ts";
import { coalesce } from "./coalesce.ts";
import { change } from "./feed.test-kit.ts";

const call = { by: "call", function_id: "f" } as const;

const cases: [what: string, changes: FeedChange[], kept: [number, FeedChange["kind"]][]][] = [
  ["nothing", [], []],
  [
    "the last of several modifications of one content",
    [
      change({ seq: 1, path: "a" }),
      change({ seq: 2, path: "b" }),
      change({ seq: 3, path: "a" }),
      change({ seq: 4, path: "a" }),
    ],
    [
      [2, "modified"],
      [4, "modified"],
    ],
  ],
  [
    "a creation, with the modifications just after it",
    [
      change({ seq: 1, path: "a", kind: "created" }),
      change({ seq: 2, path: "a" }),
      change({ seq: 3, path: "a" }),
      change({ seq: 4, path: "b" }),
      change({ seq: 5, path: "a" }),
      change({ seq: 6, path: "a" }),
    ],
    [
      [3, "created"],
      [4, "modified"],
      [6, "modified"],
    ],
  ],
  [
    "those of different causes",
    [
      change({ seq: 1, path: "a" }),
      change({ seq: 2, path: "a", cause: call }),
      change({ seq: 3, path: "a", cause: call }),
    ],
    [
      [1, "modified"],
      [3, "modified"],
    ],
  ],
  [
    "what was removed, and made again",
    [
      change({ seq: 1, path: "a" }),
      change({ seq: 2, path: "a", kind: "deleted" }),
      change({ seq: 3, path: "a", kind: "created" }),
    ],
    [
      [1, "modified"],
      [2, "deleted"],
      [3, "created"],
    ],
  ],
  [
    "what was before a folder moved, or a gap",
    [
      change({ seq: 1, path: "d/a" }),
      change({ seq: 2, path: "e", from: "d", kind: "moved", isFolder: true }),
      change({ seq: 3, path: "d/a" }),
      change({ seq: 4, path: ".", isFolder: true, isGap: true }),
      change({ seq: 5, path: "d/a" }),
    ],
    [1, 2, 3, 4, 5].map((seq) => [seq, seq === 2 ? "moved" : "modified"]),
  ],
  [
    "what was moved away",
    [
      change({ seq: 1, path: "a" }),
      change({ seq: 2, path: "b", from: "a", kind: "moved" }),
      change({ seq: 3, path: "a" }),
    ],
    [
      [1, "modified"],
      [2, "moved"],
      [3, "modified"],
    ],
  ],
];

test.each(cases)("keeps %s", (_, changes, kept) => {
  expect(runAtOnce(coalesce(changes)).map(({ seq, kind }) => [seq, kind])).toEqual(kept);
});

test("compares very many changes in steps", () => {
  const changes = Array.from({ length: 10_000 }, (_, seq) => change({ seq, path: "a" }));
  const steps = coalesce(changes);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(100);
});
