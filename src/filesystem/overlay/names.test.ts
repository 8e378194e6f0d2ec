import { expect, test } from "bun:test";
import { PlannedEntries } from "./entry.ts";
import { PlannedNames } from "./names.ts";

const folder = { path: "d", folding: "folded" } as const;

test("finds any spelling among many changed names, each of which is folded once", () => {
  let folds = 0;
  const names = new PlannedNames({
    fold: ({ path }) => {
      folds++;
      return path.toLowerCase();
    },
  });
  const changes = new PlannedEntries("d");
  const made = new PlannedEntries(undefined);
  for (let i = 0; i < 1000; i++) changes.changed.set(`New${i}`, i === 7 ? undefined : made);
  const find = (name: string) => names.find(folder, { changes, disk: undefined }, name);
  for (let i = 0; i < 1000; i++) expect(find(`other${i}`)).toBeUndefined();
  expect(folds).toBeLessThan(1000 + 3 * 1000);
  expect([find("new6"), find("NEW7")]).toEqual([{ entry: made }, { entry: undefined }]);
  changes.changed.set("NEW7", made);
  changes.changed.set("more", made);
  expect([find("new7"), find("More")]).toEqual([{ entry: made }, { entry: made }]);
});
