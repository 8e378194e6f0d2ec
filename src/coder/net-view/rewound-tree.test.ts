/** Tests that other calls run while records with many entries are taken back in memory. */
import { expect, test } from "bun:test";
import { createLog } from "../../base/log/log.ts";
import type { RecordedStep } from "../../filesystem/journal/read-record.ts";
import { rewind } from "./rewind.ts";
import { RewoundTree } from "./rewound-tree.ts";

const count = 500;

/** Opens a tree over an empty disk, and counts its pauses and the states that it reads between two. */
function open() {
  const counted = { pauses: 0, states: 0, mostStates: 0 };
  const pause = async () => {
    counted.pauses++;
    counted.states = 0;
  };
  const state = () => {
    counted.mostStates = Math.max(counted.mostStates, ++counted.states);
    return { kind: "absent" } as const;
  };
  const disk = { state, stateInSlices: state, read: () => undefined };
  return { counted, pause, tree: new RewoundTree(disk, pause) };
}

test.each([
  ["moved", (tree: RewoundTree) => tree.move("folder", "other")],
  ["removed", (tree: RewoundTree) => tree.remove("folder")],
])("a pause follows each entry of a folder that is %s", async (_, change) => {
  const { counted, tree } = open();
  for (let index = 0; index < count; index++)
    await tree.putFile(`folder/${index}`, Buffer.from("x"), { mode: 0o644 });
  counted.pauses = 0;
  await change(tree);
  expect(counted.pauses).toBeGreaterThanOrEqual(2 * count);
});

test("a pause follows each path that cannot be restored", async () => {
  const { counted, pause, tree } = open();
  const absent = { state: { kind: "absent" } } as const;
  const place = { seq: 1, segment: 1, record: "r", contentsAt: 0, bytes: 0, part: 0 };
  const steps = Array.from(
    { length: count },
    (_, at): RecordedStep => ({
      ...{ at, kind: "remove", path: `${at}`, before: absent, after: absent, ...place },
      unavailable: "special-file",
    }),
  );
  const record = { version: 2, ts: 0, seq: 1, bytes: 0, steps } as const;
  const source = { state: undefined as never, log: createLog({ level: "error", form: "text", write() {} }) };
  await rewind(tree, record, { source, isShown: () => true, pause });
  expect([...tree.entries.values()].map(({ kind }) => kind)).toEqual(Array(count).fill("unknown"));
  expect(counted.mostStates).toBeLessThan(10);
});
