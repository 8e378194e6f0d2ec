import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { JailFixture } from "./jail.test-kit.ts";
import { isMountPoint, parseMountPoints } from "./mounts.ts";

test("the points of all lines, with the characters that are written as numbers", () => {
  const lines = [
    "22 1 254:0 / / rw,noatime shared:1 - ext4 /dev/vda rw",
    "30 22 0:25 / /mnt/in\\040ner\\134\\012 rw - tmpfs none rw",
    "",
  ];
  expect(parseMountPoints(lines.join("\n"))).toEqual(["/", "/mnt/in ner\\\n"]);
});

test("nothing is mounted in a folder that is gone", () => {
  const directory = process.cwd();
  try {
    using fixture = new JailFixture({ "d/f": "", "other/f": "" });
    const jail = fixture.jail("current-directory");
    using folder = jail.admitFolder("d");
    using other = jail.admitFolder("other");
    renameSync(fixture.at("d"), fixture.at("away"));
    // The folder has to be found by its path again.
    other.enter(() => undefined);
    expect(isMountPoint({ folder, name: "f" })).toBe(false);
  } finally {
    process.chdir(directory);
  }
});
