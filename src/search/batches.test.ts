import { expect, test } from "bun:test";
import type { Folder } from "../jail/folder.ts";
import { takeBatch } from "./batches.ts";
import { HeldFolder, type Run } from "./walk.ts";

const size = { files: 100, folders: 100 };

/** A walk of folders with a file each, which fails after the last; each is given to `onClose` when nobody holds it. */
function* failing(folders: readonly string[], onClose: (path: string) => void): Generator<Run> {
  for (const path of folders) {
    const held = new HeldFolder({ path } as Folder, () => onClose(path));
    yield { folder: held.hold(), names: ["file"] };
    held.release();
  }
  throw new Error("the walk failed");
}

test("a walk that fails leaves no folder held, neither those of earlier batches nor of the one that was begun", () => {
  const closed: string[] = [];
  const runs = failing(["a", "b", "c"], (path) => closed.push(path));
  const held = { folders: 0 };
  const first = takeBatch(runs, { files: 1, folders: 1 }, held);
  expect(() => takeBatch(runs, size, held)).toThrow("the walk failed");
  expect(closed).toEqual(["b", "c"]);
  first?.release();
  expect(closed).toEqual(["b", "c", "a"]);
  expect(held.folders).toBe(0);
});
