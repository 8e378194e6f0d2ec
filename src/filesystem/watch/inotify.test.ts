import { expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { endianness } from "node:os";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { events, Inotify, parseEvents } from "./inotify.ts";

/** Returns a record of struct inotify_event. */
function record(watch: number, mask: number, name: string): Buffer {
  const padded = Buffer.alloc(name === "" ? 0 : 16 * Math.ceil((name.length + 1) / 16));
  padded.write(name, "latin1");
  const head = Buffer.alloc(16);
  head.writeInt32LE(watch, 0);
  head.writeUInt32LE(mask, 4);
  head.writeUInt32LE(7, 8);
  head.writeUInt32LE(padded.length, 12);
  return Buffer.concat([head, padded]);
}

test("records are parsed one after the other, with their names without padding", () => {
  expect(endianness()).toBe("LE");
  const all = Buffer.concat([
    record(1, events.create | events.isFolder, "a"),
    record(-1, events.overflow, ""),
    record(2, events.modify, "\xff".repeat(16)),
  ]);
  const parsed: unknown[] = [];
  parseEvents(all, all.length, ({ watch, mask, cookie, bytes, from, to }) =>
    parsed.push([watch, mask, cookie, bytes.toString("latin1", from, to)]),
  );
  expect(parsed).toEqual([
    [1, 0x40000100, 7, "a"],
    [-1, events.overflow, 7, ""],
    [2, events.modify, 7, "\xff".repeat(16)],
  ]);
});

test("a folder has one watch, a file has none, and an empty queue says so", () => {
  using fixture = new JailFixture({ "d/": null, f: "" });
  const inotify = Inotify.open() as Inotify;
  const [folder, again, file] = ["d", "d", "f"].map((name) => openSync(fixture.at(name), "r"));
  const watch = inotify.watch(folder!);
  expect(inotify.watch(again!)).toBe(watch);
  expect(inotify.watch(file!)).toBe("other");
  const names: string[] = [];
  const read = () => inotify.read(({ bytes, from, to }) => names.push(bytes.toString("latin1", from, to)));
  expect(read()).toBe(false);
  mkdirSync(fixture.at("d/x"));
  expect(read()).toBe(true);
  expect(read()).toBe(false);
  expect(names).toEqual(["x"]);
  inotify.unwatch(watch as number);
  expect(read()).toBe(true);
  for (const descriptor of [folder, again, file]) closeSync(descriptor!);
  inotify.close();
});
