import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Folder } from "../../filesystem/jail/folder.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { nothingPassedOver } from "../walk/tally.ts";
import { Batch, takeBatch } from "./batches.ts";
import { FileCursor } from "./file-cursor.ts";

const size = { files: 100, folders: 100 };

const heldAt = (path: string, onClose: () => void = () => {}): SharedFolder =>
  new SharedFolder({ path, descriptor: path.length } as Folder, onClose);

function add(batch: Batch, folder: SharedFolder, name: string | Buffer): boolean {
  const bytes = Buffer.concat([Buffer.from("before"), Buffer.from(name), Buffer.from("behind")]);
  return batch.add(folder, bytes, 6, bytes.length - 6);
}

/**
 * Returns a walk of folders with a file each, which fails after the last. `onClose` is called with each
 * folder that is closed.
 */
const failing = (folders: string[], onClose: (path: string) => void) => ({
  passedOver: nothingPassedOver,
  fill(batch: Batch): boolean {
    for (let path = folders.shift(); path !== undefined; path = folders.shift()) {
      const closed = path;
      const held = heldAt(path, () => onClose(closed));
      const isTaken = add(batch, held, "file");
      held.release();
      if (isTaken) continue;
      folders.unshift(path);
      return true;
    }
    throw new Error("the walk failed");
  },
});

test("a walk that fails leaves no folder held, neither those of earlier batches nor of the one that was begun", () => {
  const closed: string[] = [];
  const walk = failing(["a", "b", "c"], (path) => closed.push(path));
  const held = { folders: 0 };
  const first = takeBatch(walk, { files: 1, folders: 1 }, held);
  closed.splice(0); // the one that found no room
  expect(() => takeBatch(walk, size, held)).toThrow("the walk failed");
  expect(closed).toEqual(["b", "c"]);
  first?.release();
  first?.release();
  expect(closed).toEqual(["b", "c", "a"]);
  expect(held.folders).toBe(0);
});

test("it takes so many files, of so many folders", () => {
  const held = { folders: 0 };
  const [one, other, third] = [heldAt("one"), heldAt("other"), heldAt("third")];
  const batch = new Batch({ files: 3, folders: 2 }, held);
  expect(batch.isEmpty).toBe(true);
  expect([add(batch, one, "a"), add(batch, other, "b"), add(batch, third, "c")]).toEqual([true, true, false]);
  expect([add(batch, other, "d"), add(batch, other, "e")]).toEqual([true, false]);
  expect(batch.isEmpty).toBe(false);
  expect(held.folders).toBe(2);
  expect([0, 1, 2].map((index) => batch.pathOf(index))).toEqual(["one/a", "other/b", "other/d"]);
  expect(() => batch.pathOf(3)).toThrow("not in its batch");
});

test("what a thread is given are the names as they are, however many and long", () => {
  const name = fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => {
    return Buffer.from(bytes).map((byte) => (byte === 0 ? 1 : byte));
  });
  const folders = fc.array(fc.array(name, { maxLength: 10 }), { maxLength: 8 });
  fc.assert(
    fc.property(folders, fc.boolean(), (folders, wantsPaths) => {
      const batch = new Batch({ files: 100, folders: 8 }, { folders: 0 });
      const expected = folders.flatMap((names, number) => {
        const folder = heldAt("f".repeat(number));
        for (const name of names) expect(add(batch, folder, Buffer.from(name))).toBe(true);
        return names.map((name) => ({ name: Buffer.from(name), folder }));
      });
      const { names, ...posted } = batch.post(wantsPaths);
      const cursor = new FileCursor({ ...posted, bytes: Buffer.from(names, "latin1") });
      for (const [index, { name, folder }] of expected.entries()) {
        expect(cursor.next()).toBe(true);
        expect(cursor.index).toBe(index);
        expect(cursor.bytes.subarray(cursor.from, cursor.to).equals(name)).toBe(true);
        expect(posted.descriptors[cursor.folder]).toBe(folder.folder.descriptor);
        if (wantsPaths) expect(cursor.path).toBe(folder.prefix + name.toString());
        expect(batch.pathOf(index)).toBe(folder.prefix + name.toString());
      }
      expect(cursor.next()).toBe(false);
      expect(posted.prefixes.length).toBe(wantsPaths ? posted.firsts.length : 0);
    }),
    { numRuns: 300 },
  );
});
