import { expect, test } from "bun:test";
import { Mutations } from "../disk/mutations.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { PlannedTree } from "../overlay/planned-tree.ts";
import { FileEdit } from "./update.ts";

const many = 8;

/** Takes longer than a slice. */
function work(): void {
  for (const ends = performance.now() + 3; performance.now() < ends; );
}

/** Returns how many turns of the event loop the pieces of work end in. */
async function turnsOf(pieces: readonly (() => Promise<void>)[]): Promise<number> {
  let [turn, isOver] = [0, false];
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const ended = new Set<number>();
  await Promise.all(
    pieces.map(async (piece) => {
      await piece();
      ended.add(turn);
    }),
  );
  isOver = true;
  return ended.size;
}

test("edits that begin in one turn do not all read their files in it", async () => {
  const length = 8_000_000;
  const names = Array.from({ length: many }, (_, index) => `file-${index}`);
  const content = Buffer.alloc(length, "x");
  using fixture = new FilesFixture("openat", Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of names) await Bun.write(fixture.at(name), content);
  const config = { max_write_bytes: length, fsync: false };
  const edits = names.map((name) => async () => {
    const tree = new PlannedTree(
      { jail: fixture.jailed, config },
      { maxBytes: length, remembersReads: true },
    );
    await using edit = await FileEdit.begin(tree, name, fixture.call);
    expect(edit.before).toHaveLength(length);
    work();
  });
  expect(await turnsOf(edits)).toBeGreaterThan(many / 2);
});

test("steps on large files that are due in one turn are not all made in it", async () => {
  const mutations = new Mutations();
  const step = async () => {
    await mutations.readAhead({ replaced: () => undefined }, undefined);
    work();
  };
  expect(await turnsOf(Array(many).fill(step))).toBeGreaterThan(many / 2);
});
