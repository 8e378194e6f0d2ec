import { expect, test } from "bun:test";
import type { TreeChange } from "../watch/watched-tree.ts";
import { ExternalChanges, type ExternalChangesOptions } from "./external-changes.ts";

const folder = { kind: "dir", inode: "1", state: "1" } as unknown as ReturnType<
  ExternalChangesOptions["stampsAt"]
>;

/** Returns the changes found after these events, in a tree that has listed a folder under every name. */
function foundAfter(...events: Omit<TreeChange, "path" | "isFolder">[]): string[] {
  const found: string[] = [];
  const external = new ExternalChanges({
    stampsAt: () => folder,
    presenceAt: () => "folder",
    isHeld: () => false,
    transactionsOver: () => 0,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  for (const event of events) external.add({ isFolder: true, path: Buffer.from("new/in"), ...event });
  external.reconcile(1);
  return found;
}

test("a folder that was listed before its event came is created, and nothing was deleted", () => {
  expect(foundAfter({ kind: "created" })).toEqual(["created new/in"]);
  expect(foundAfter({ kind: "created" }, { kind: "attributes" })).toEqual(["created new/in"]);
});

test("a folder that took the name of another is said to have done so", () => {
  const replaced = ["deleted new/in", "created new/in"];
  expect(foundAfter({ kind: "removed" }, { kind: "created" })).toEqual(replaced);
  expect(foundAfter({ kind: "created", isMovedIn: true })).toEqual(replaced);
});

test("names that a transaction holds are read again only when it is over", () => {
  const found: string[] = [];
  let [reads, over] = [0, 0];
  const external = new ExternalChanges({
    stampsAt: () => {
      reads++;
      return folder;
    },
    presenceAt: () => "nothing",
    isHeld: () => over === 0,
    transactionsOver: () => over,
    onFound: ({ kind, path }) => found.push(`${kind} ${path}`),
  });
  const names = Array.from({ length: 100 }, (_, index) => `${index}`);
  for (const [index, name] of names.entries()) {
    external.add({ kind: "created", isFolder: true, path: Buffer.from(name) });
    external.leave(`left${name}`, undefined, 1);
    external.reconcile(index + 1);
  }
  expect([found, reads]).toEqual([[], 100]);
  over++;
  external.reconcile(101);
  expect(found).toEqual(names.map((name) => `created ${name}`));
  expect(reads).toBe(200);
});
