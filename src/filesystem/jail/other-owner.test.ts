import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { otherOwnerOf } from "./other-owner.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-owner-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("another owner is named, also that of the folder which is to hold a file", () => {
  const uid = process.getuid!();
  expect(otherOwnerOf(folder)).toBeUndefined();
  const another = spyOn(process, "getuid").mockReturnValue(uid + 1);
  try {
    expect(otherOwnerOf(folder)).toBe(`it belongs to another user (uid ${uid})`);
    expect(otherOwnerOf(join(folder, "none/file"))).toBe(`${folder} belongs to another user (uid ${uid})`);
  } finally {
    another.mockRestore();
  }
});
