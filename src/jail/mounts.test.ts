import { expect, test } from "bun:test";
import { parseMountPoints } from "./mounts.ts";

test("the points of all lines, with the characters that are written as numbers", () => {
  const lines = [
    "22 1 254:0 / / rw,noatime shared:1 - ext4 /dev/vda rw",
    "30 22 0:25 / /mnt/in\\040ner\\134\\012 rw - tmpfs none rw",
    "",
  ];
  expect(parseMountPoints(lines.join("\n"))).toEqual(["/", "/mnt/in ner\\\n"]);
});
