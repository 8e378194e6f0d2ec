import { expect, test } from "bun:test";
import { FolderNode } from "../watch/folder-node.ts";
import { PresenceReader } from "./presence.ts";

test("names in one deep folder are found without a walk to it for each, as the tree has them then", () => {
  let walked = 0;
  const base = new FolderNode(undefined, "");
  let folder = base;
  for (let level = 0; level < 200; level++) {
    const [above, inner] = [folder, new FolderNode(folder, "d")];
    above.insert("d/", inner);
    const { keys } = above;
    Object.defineProperty(above, "keys", {
      get() {
        walked++;
        return keys;
      },
    });
    folder = inner;
  }
  folder.inode = 1n;
  folder.insert("file", 1);
  const tree = { base, version: 1 };
  const presence = new PresenceReader(tree);
  const path = "d/".repeat(200);
  for (let index = 0; index < 1000; index++) expect(presence.presenceAt(`${path}${index}`)).toBe("nothing");
  expect(walked).toBe(200);
  expect(presence.presenceAt(`${path}file`)).toBe("entry");
  expect(presence.presenceAt(path.slice(0, -1))).toBe("folder");
  expect([presence.isWatchedAt(path.slice(0, -1)), presence.isWatchedAt(`${path}file`)]).toEqual([
    true,
    false,
  ]);
  expect([presence.presenceAt("d"), presence.isWatchedAt("d")]).toEqual(["folder", false]);
  expect(presence.presenceAt(`${path}file`)).toBe("entry");
  folder.remove("file");
  tree.version++;
  expect(presence.presenceAt(`${path}file`)).toBe("nothing");
});
