import { expect, test } from "bun:test";
import { ChangeStream } from "./change-stream.ts";
import { FolderNode } from "./folder-node.ts";
import { events } from "./inotify.ts";

test("a new entry is compared with the moves out of the tree that had its name, and with no others", () => {
  const folder = new FolderNode(undefined, "");
  const lines: string[] = [];
  const stream = new ChangeStream(({ kind, path }) => lines.push(`${kind} ${path}`));
  let uses = 0;
  const event = (name: string, mask: number, cookie = 0) => ({
    get folder() {
      uses++;
      return folder;
    },
    ...{ name, mask, cookie },
  });
  for (let index = 0; index < 2000; index++) stream.add(event(`out${index}`, events.movedFrom, index + 1));
  for (let index = 0; index < 2000; index++) stream.add(event(`new${index}`, events.create));
  expect(uses).toBeLessThan(10 * 4000);
  stream.add(event("out7", events.create));
  stream.add(event("out8", events.movedTo, 9));
  expect(lines.splice(2000)).toEqual(["removed out7", "created out7", "moved out8"]);
  stream.flush();
  expect(lines.splice(2000)).toHaveLength(1998);
});

test("an entry has the path of the moment, also after its folder has moved", () => {
  const base = new FolderNode(undefined, "");
  const folder = new FolderNode(base, "d");
  base.insert("d/", folder);
  const lines: string[] = [];
  const stream = new ChangeStream(({ kind, path }) => lines.push(`${kind} ${path}`));
  const isFolder = events.isFolder;
  const write = () => stream.add({ folder, name: "f", mask: events.modify, cookie: 0 });
  const move = (from: string, to: string, cookie: number) => {
    stream.add({ folder: base, name: from, mask: events.movedFrom | isFolder, cookie });
    stream.add({ folder: base, name: to, mask: events.movedTo | isFolder, cookie });
  };
  write();
  stream.add({ folder, name: "f", mask: events.attrib, cookie: 0 });
  move("d", "e", 1);
  write();
  expect(lines).toEqual(["modified d/f", "attributes d/f", "moved e", "modified e/f"]);
});

test("many folders that move between two deep ones are named without a walk to the base for each", () => {
  let steps = 0;
  let folder = new FolderNode(undefined, "");
  for (let level = 0; level < 200; level++) {
    const inner = new FolderNode(folder, "d");
    Object.defineProperty(inner, "name", {
      get() {
        steps++;
        return "d";
      },
    });
    folder.insert("d/", inner);
    folder = inner;
  }
  const lines: string[] = [];
  const stream = new ChangeStream(({ path }) => lines.push(path.toString()));
  for (let index = 0; index < 1000; index++) {
    folder.insert(`old${index}/`, new FolderNode(folder, `old${index}`));
    const cookie = index + 1;
    stream.add({ folder, name: `old${index}`, mask: events.movedFrom | events.isFolder, cookie });
    stream.add({ folder, name: `new${index}`, mask: events.movedTo | events.isFolder, cookie });
  }
  expect(lines.at(-1)).toBe(`${"d/".repeat(200)}new999`);
  expect(steps).toBeLessThan(10 * 1000);
});
