import { expect, test } from "bun:test";
import type { WatchedFolder } from "../watch/watched-tree.ts";
import type { FoundChange } from "./change.ts";
import { type ChangeSummary, CommandChanges } from "./command-changes.ts";

/** Returns a folder of the tree with these entries. */
function folderWith(entries: Readonly<Record<string, WatchedFolder["entries"][number]>>): WatchedFolder {
  const keys = Object.keys(entries);
  return {
    ...{ parent: undefined, name: "", inode: 1n, unwatched: undefined, changedAt: 0 },
    ...{ keys, entries: Object.values(entries) },
  };
}

const at = { isFolder: true, cause: { by: "external" } } as const;

/** Returns the summary of new folders, which the tree has as `folder`, and the number of its steps. */
function summarize(paths: readonly string[], folder: WatchedFolder | undefined): [ChangeSummary, number] {
  const command = new CommandChanges({ by: "call" });
  for (const path of paths) command.note({ ...at, path, kind: "created" });
  const summing = command.summarize({
    folderAt: () => folder,
    presenceAt: () => "folder",
    denies: () => false,
  });
  let steps = 0;
  let step = summing.next();
  for (; !step.done; step = summing.next()) steps++;
  return [step.value, steps];
}

test("new folders are summed up in steps, also empty ones and those that are gone", () => {
  const names = Array.from({ length: 1000 }, (_, index) => `f${index}`);
  const empty = folderWith({});
  const inOne = folderWith(Object.fromEntries(names.map((name) => [`${name}/`, empty])));
  for (const [paths, folder, made] of [
    [names, empty, 1000],
    [names, undefined, 0],
    [["one"], inOne, 1],
  ] as const) {
    const [summary, steps] = summarize(paths, folder);
    expect(summary.made).toHaveLength(made);
    expect(summary.made.every(({ files }) => files === 0)).toBe(true);
    expect(steps).toBeGreaterThanOrEqual(2000);
  }
});

test("the names of new files are kept in steps", () => {
  const command = new CommandChanges({ by: "call" });
  for (let index = 0; index < 1000; index++)
    command.note({ ...at, isFolder: false, path: `${index}`, kind: "created" });
  const summing = command.summarize({
    folderAt: () => undefined,
    presenceAt: () => "entry",
    denies: () => false,
  });
  expect([...summing].length).toBeGreaterThanOrEqual(2000);
});

test("a change is only kept when it is noted, and summed up in steps, some of them while the command runs", async () => {
  let reads = 0;
  const made = { kind: "created", isFolder: false } as const;
  const change = (path: string, part: Pick<FoundChange, "kind" | "isFolder"> = made) => ({
    ...{ ...at, ...part },
    get path() {
      reads++;
      return path;
    },
  });
  const command = new CommandChanges({ by: "call" });
  for (let index = 0; index < 1023; index++) command.note(change(`d/${index}`));
  expect(reads).toBe(0);
  for (let index = 1023; index < 3000; index++) command.note(change(`d/${index}`));
  expect(reads).toBeLessThan(2000);
  await new Promise((resolve) => setImmediate(resolve));
  command.note(change("d", { kind: "deleted", isFolder: true }));
  command.note(change("e"));
  const tree = { folderAt: () => undefined, presenceAt: () => "nothing" as const, denies: () => false };
  const summing = command.summarize(tree);
  let steps = 0;
  let step = summing.next();
  for (; !step.done; step = summing.next()) steps++;
  // The folder takes a step for each name in it.
  expect(steps).toBeGreaterThan(3000);
  expect([step.value.files, step.value.deleted]).toEqual([["e"], ["d"]]);
});
