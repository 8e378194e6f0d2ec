import { expect, test } from "bun:test";
import fc from "fast-check";
import { errnoError } from "../../filesystem/jail/errno.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { type Batch, takeBatch } from "../batches/batches.ts";
import { SharedFolder } from "./shared-folder.ts";
import { Walk } from "./walk.ts";

/** A folder's entries by name. A file is "file", and the names of denied entries contain "denied". */
interface Branch {
  readonly [name: string]: Tree;
}
type Tree = "file" | "link" | "gone" | Branch;

const name = fc
  .array(fc.constantFrom("a", "b", " ", "-", ".", "0", "é", "\u{1f600}", "denied"), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => `_${parts.join("")}`);

const { folder: branch } = fc.letrec<{ tree: Tree; folder: Branch }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    { weight: 6, arbitrary: fc.constant<Tree>("file") },
    { weight: 1, arbitrary: fc.constantFrom<Tree>("link", "gone") },
    { weight: 4, arbitrary: tie("folder") },
  ),
  folder: fc.dictionary(name, tie("tree"), { maxKeys: 8 }),
}));

const kinds = { file: "file", link: "symlink", gone: "dir" } as const;

/** Returns a tree as a folder, without a disk. `closed` is called with each folder that is closed. */
function folderOf(branch: Branch, path: string, closed: (path: string) => void): Folder {
  const folder: Pick<Folder, "path" | "requested" | "list" | "child" | "close"> = {
    path,
    requested: ".",
    *list(onDirent) {
      for (const [name, below] of Object.entries(branch)) {
        const bytes = Buffer.from(`/${name}/`);
        onDirent(bytes, 1, bytes.length - 1, typeof below === "object" ? "dir" : kinds[below]);
        yield;
      }
    },
    child(name) {
      const below = branch[name.toString()] as Branch | "gone";
      if (below === "gone") throw errnoError("ENOENT");
      return folderOf(below, path === "" ? `${name}` : `${path}/${name}`, closed);
    },
    close: () => closed(path),
  };
  return folder as Folder;
}

/** Returns the paths of the files that a walk should find. */
function filesOf(branch: Branch, prefix = ""): string[] {
  return Object.entries(branch).flatMap(([name, below]) => {
    if (name.includes("denied")) return [];
    if (below === "file") return [prefix + name];
    return typeof below === "string" ? [] : filesOf(below, `${prefix}${name}/`);
  });
}

const jail = {
  deniesBytesIn: (_: Folder, bytes: Buffer, from: number, to: number) =>
    bytes.toString("utf8", from, to).includes("denied"),
} as unknown as Jail;

const folderIn = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

const pathsOf = (batch: Batch): string[] =>
  Array.from({ length: batch.files.count }, (_, index) => batch.pathOf(index));

test("every file is in one batch, in the order of paths, and each folder is held until nobody needs it", () => {
  const sizes = fc.infiniteStream(
    fc.record({ files: fc.integer({ min: 1, max: 5 }), folders: fc.integer({ min: 1, max: 3 }) }),
  );
  fc.assert(
    fc.property(branch, sizes, fc.boolean(), (branch, sizes, endsEarly) => {
      const closed: string[] = [];
      const held = { folders: 0 };
      const start = new SharedFolder(folderOf(branch, "", (path) => closed.push(path)));
      const files = { sweepFolder: () => 0 };
      const walk = new Walk(start, { jail, files, include: undefined, exclude: undefined, onTooDeep() {} });
      start.release();
      const batches: Batch[] = [];
      const found: string[] = [];
      for (const size of sizes) {
        const batch = takeBatch(walk, size, held);
        if (batch === undefined) break;
        expect(batch.files.count).toBeLessThanOrEqual(size.files);
        expect(batch.files.firsts.length).toBeLessThanOrEqual(size.folders);
        const paths = pathsOf(batch);
        for (const path of paths) expect(closed).not.toContain(folderIn(path));
        found.push(...paths);
        batches.push(batch);
        if (endsEarly && batches.length === 2) break;
      }
      const expected = filesOf(branch).sort((one, other) =>
        Buffer.compare(Buffer.from(one), Buffer.from(other)),
      );
      expect(found).toEqual(endsEarly ? expected.slice(0, found.length) : expected);
      walk.close();
      for (const batch of batches) batch.release();
      expect(held.folders).toBe(0);
      expect(new Set(closed).size).toBe(closed.length);
      expect(closed).toContain("");
    }),
    { numRuns: 1000 },
  );
});
