import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { changedPaths } from "./changed-paths.ts";
import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";

const states = {
  absent: { kind: "absent" },
  file: { kind: "file", mode: 0o644, revision: "" },
  dir: { kind: "dir" },
} as const satisfies Record<string, RecordedState>;

/** Parses the steps of a call, such as "place a absent file" or "rename a b". */
function stepsOf(...steps: string[]): RecordedStep[] {
  return steps.map((text, at) => {
    const [kind, path, one, other] = text.split(" ") as [RecordedStep["kind"], string, string?, string?];
    const common = { at, kind, seq: 1, segment: 1, record: "", contentsAt: 0, part: 0, bytes: 0 };
    const between = (before: RecordedState, after: RecordedState) => ({
      ...common,
      before: { state: before },
      after: { state: after },
    });
    if (kind === "rename")
      return {
        ...between(states.absent, states[other as keyof typeof states] ?? states.file),
        path: one!,
        from: path,
      };
    return {
      ...between(states[one as keyof typeof states], states[other as keyof typeof states]),
      path,
      ...(text.endsWith("lost") && { unavailable: "too-large" as const }),
    };
  });
}

test("folders that move among many other paths are found without reading these", () => {
  const made = Array.from({ length: 1000 }, (_, index) => `place c/${index % 10}/${index} absent file`);
  const moved = Array.from({ length: 500 }, (_, index) => [
    `place d${index}/f file file`,
    `rename d${index} e${index} dir`,
  ]).flat();
  const steps = changedPaths(stepsOf(...made, ...moved, "rename c d dir"));
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(made.length + moved.length);
  // Each path is met, moved and described once.
  expect(count).toBeLessThan(4 * (made.length + moved.length));
});

test.each<[steps: string[], changed: string[]]>([
  [["place a absent file"], ["created a"]],
  [["place a file file"], ["modified a"]],
  [["chmod a file file"], ["mode a"]],
  [["chmod a file file", "place a file file", "chmod a file file"], ["modified a"]],
  [["remove a file absent"], ["deleted a"]],
  [["remove a file absent", "place a absent file"], ["modified a"]],
  [["place a absent file", "remove a file absent"], []],
  [["rename a b"], ["moved b from a"]],
  [["rename a b", "place b file file"], ["moved b from a"]],
  [["rename a b", "chmod b file file"], ["moved b from a"]],
  [["place a file file", "rename a b"], ["moved b from a"]],
  [["rename a b", "rename b c"], ["moved c from a"]],
  [["rename a b", "rename b a"], []],
  [["rename a b", "place b file file", "rename b a"], ["modified a"]],
  [["rename a b", "remove b file absent"], ["deleted a"]],
  [
    ["rename a b", "place a absent file"],
    ["moved b from a", "created a"],
  ],
  [["place a absent file", "rename a b"], ["created b"]],
  [["place a absent file", "rename a b", "remove b file absent"], []],
  [["remove b file absent", "rename a b"], ["moved b from a"]],
  [
    ["remove b file absent", "rename a b", "remove b file absent"],
    ["deleted b", "deleted a"],
  ],
  [
    ["rename a t", "rename b a", "rename t b"],
    ["moved a from b", "moved b from a"],
  ],
  [
    ["place r absent dir", "rename a r/a", "place r/a file file"],
    ["created r", "moved r/a from a"],
  ],
  [
    ["rename d e dir", "place e/x file file"],
    ["moved e from d", "moved e/x from d/x"],
  ],
  [
    ["rename d e dir", "remove e/x file absent"],
    ["moved e from d", "deleted d/x"],
  ],
  [
    ["rename d e dir", "place e/x absent file"],
    ["moved e from d", "created e/x"],
  ],
  [
    ["place d/x file file", "rename d e dir"],
    ["moved e from d", "moved e/x from d/x"],
  ],
  [
    ["place d/x absent file", "rename d e dir"],
    ["moved e from d", "created e/x"],
  ],
  [
    ["remove d/x file absent", "rename d e dir"],
    ["deleted d/x", "moved e from d"],
  ],
  [
    ["rename d e dir", "rename e/x y"],
    ["moved e from d", "moved y from d/x"],
  ],
  [
    ["place e absent dir", "place e/x file file"],
    ["created e", "created e/x"],
  ],
  [["place a file lost"], ["modified a lost"]],
  [["place a file lost", "rename a b"], ["moved b from a lost"]],
])("%j came to %j", (steps, changed) => {
  const found = runAtOnce(changedPaths(stepsOf(...steps))).map(({ path, from, change, unavailable }) =>
    [change, path, ...(from === undefined ? [] : ["from", from]), ...(unavailable ? ["lost"] : [])].join(" "),
  );
  expect(found).toEqual(changed);
});
