import { expect, spyOn, test } from "bun:test";
import type { OnDirent } from "../../filesystem/jail/dirents.ts";
import { errnoError } from "../../filesystem/jail/errno.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { Batch } from "../batches/batches.ts";
import { SharedFolder } from "./shared-folder.ts";
import { Walk } from "./walk.ts";

const options = {
  jail: { deniesBytesIn: () => false } as unknown as Jail,
  files: { sweepFolder: () => 0 },
  include: undefined,
  exclude: undefined,
  onTooDeep() {},
};

const batch = () => new Batch({ files: 100, folders: 100 }, { folders: 0 });

test.each(["ENOENT", "EIO"] as const)("a start that cannot be listed (%s) is not held any more", (errno) => {
  let closed = 0;
  const list = (): never => {
    throw errnoError(errno);
  };
  const start = new SharedFolder({ path: "", requested: ".", list } as unknown as Folder, () => closed++);
  const walk = new Walk(start, options);
  expect(() => walk.fill(batch())).toThrow(expect.objectContaining({ name: "Refusal" }));
  walk.close();
  start.release();
  expect(closed).toBe(1);
});

test("a large folder is listed and sorted over many fills, and in each for a few steps only", () => {
  let reported = 0;
  const large = {
    path: "",
    requested: ".",
    *list(onDirent: OnDirent) {
      for (let piece = 0; piece < 50; piece++) {
        for (let i = 0; i < 1000; i++) {
          const name = Buffer.from(`${(i * 7919) % 1000}-${piece}`);
          onDirent(name, 0, name.length, "file");
        }
        reported++;
        yield;
      }
    },
    close() {},
  } as unknown as Folder;
  let time = 0;
  // Each check of the clock takes a fifth of a millisecond.
  const clock = spyOn(performance, "now").mockImplementation(() => (time += 0.2));
  const start = new SharedFolder(large);
  const walk = new Walk(start, options);
  let [fills, files] = [0, 0];
  for (let isMore = true; isMore; fills++) {
    const before = reported;
    const taken = new Batch({ files: 100_000, folders: 1 }, { folders: 0 });
    isMore = walk.fill(taken);
    expect(reported - before).toBeLessThan(8);
    files += taken.files.count;
    taken.release();
  }
  clock.mockRestore();
  start.release();
  expect(files).toBe(50_000);
  expect(fills).toBeGreaterThan(20);
});

test("a folder that is removed while it is listed has no files", () => {
  const closed: string[] = [];
  const report = (onDirent: OnDirent, name: string, kind: "file" | "dir") =>
    onDirent(Buffer.from(name), 0, name.length, kind);
  const gone = {
    path: "gone",
    requested: ".",
    *list(onDirent: OnDirent) {
      report(onDirent, "never-seen", "file");
      yield;
      throw errnoError("ENOENT");
    },
    close: () => closed.push("gone"),
  } as unknown as Folder;
  const base = {
    path: "",
    requested: ".",
    *list(onDirent: OnDirent) {
      report(onDirent, "z", "file");
      report(onDirent, "gone", "dir");
      yield;
      report(onDirent, "a", "file");
    },
    child: () => gone,
    close: () => closed.push("base"),
  } as unknown as Folder;
  const start = new SharedFolder(base);
  const walk = new Walk(start, options);
  const taken = batch();
  // On a busy machine one fill may not be enough.
  while (walk.fill(taken));
  expect([taken.pathOf(0), taken.pathOf(1)]).toEqual(["a", "z"]);
  expect(() => taken.pathOf(2)).toThrow();
  expect(closed).toEqual(["gone"]);
  taken.release();
  start.release();
  expect(closed).toEqual(["gone", "base"]);
});

test("a walk keeps only what its sink may take, and asks for files alone", () => {
  const files = { kept: "file", other: "file", link: "symlink", inner: "dir" } as const;
  const folderAt = (path: string, entries: Readonly<Record<string, EntryKind>>): Folder =>
    ({
      path,
      requested: ".",
      *list(onDirent: OnDirent) {
        for (const [name, kind] of Object.entries(entries)) onDirent(Buffer.from(name), 0, name.length, kind);
        yield;
      },
      child: () => folderAt("inner", { kept: "file", third: "file" }),
      close() {},
    }) as unknown as Folder;
  const start = new SharedFolder(folderAt("", files));
  const walk = new Walk(start, options);
  const requested: string[] = [];
  const added: string[] = [];
  const note =
    (list: string[]) =>
    ({ prefix }: SharedFolder, bytes: Buffer, from: number, to: number) => {
      const name = bytes.toString("utf8", from, to);
      list.push(prefix + name);
      return name === "kept";
    };
  while (walk.fill({ mayTake: note(requested), add: note(added) }));
  start.release();
  expect(requested).toEqual(["kept", "other", "inner/kept", "inner/third"]);
  expect(added).toEqual(["inner/kept", "kept"]);
});
