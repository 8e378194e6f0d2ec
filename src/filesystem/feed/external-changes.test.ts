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
