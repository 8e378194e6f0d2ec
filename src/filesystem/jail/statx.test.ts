import { afterAll, expect, test } from "bun:test";
import { closeSync, constants, linkSync, lstatSync, openSync, truncateSync, utimesSync } from "node:fs";
import { JailFixture } from "./jail.test-kit.ts";
import { kindOf } from "./kind.ts";
import { linksAt, statAt } from "./statx.ts";

const sandbox = new JailFixture({
  "f.txt": "text",
  "large.bin": "",
  "d/": null,
  l: { link: "f.txt" },
  dangling: { link: "nowhere" },
  "ä日.txt": "",
});
const folder = openSync(sandbox.base, constants.O_RDONLY | constants.O_DIRECTORY);
afterAll(() => {
  closeSync(folder);
  sandbox[Symbol.dispose]();
});
linkSync(sandbox.at("large.bin"), sandbox.at("large-too.bin"));
Bun.spawnSync(["mkfifo", sandbox.at("fifo")]);
truncateSync(sandbox.at("large.bin"), 5 * 2 ** 32 + 7);
utimesSync(sandbox.at("large.bin"), 1, 2 ** 32 + 5.25);
utimesSync(sandbox.at("d"), 1, -1.5);

test.each(["f.txt", "large.bin", "d", "l", "dangling", "ä日.txt", "fifo", "."])(
  "%s is as lstat says",
  (name) => {
    const stats = lstatSync(sandbox.at(name));
    expect(statAt(folder, name)).toEqual({
      kind: kindOf(stats)!,
      size: stats.size,
      mtime: Math.floor(stats.mtimeMs / 1000),
      mode: stats.mode & 0o777,
    });
    expect(linksAt(folder, name)).toEqual({
      kind: kindOf(stats)!,
      links: stats.nlink,
      inode: BigInt(stats.ino),
    });
  },
);

test("a name that is bytes is taken as it is", () => {
  expect(statAt(folder, Buffer.from("f.txt"))?.size).toBe(4);
  expect(statAt(folder, Buffer.from([0xff]))).toBeUndefined();
});

test("every failure is undefined, and a path is a bug", () => {
  for (const name of ["missing", "n".repeat(300), "n".repeat(5000)])
    expect(statAt(folder, name)).toBeUndefined();
  expect(linksAt(folder, "missing")).toBe("missing");
  expect(linksAt(folder, "n".repeat(300))).toBeUndefined();
  for (const name of ["..", "", "d/x", "a\0"]) expect(() => statAt(folder, name)).toThrow("one name");
});
