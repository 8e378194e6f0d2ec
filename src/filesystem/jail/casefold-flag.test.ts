import { afterAll, expect, test } from "bun:test";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { hasCasefold, isCasefolded } from "./casefold-flag.ts";
import { JailFixture } from "./jail.test-kit.ts";

const sandbox = new JailFixture();
const folder = openSync(sandbox.base, constants.O_RDONLY | constants.O_DIRECTORY);
afterAll(() => {
  closeSync(folder);
  sandbox[Symbol.dispose]();
});

test("a folder has the flag or not, and one that cannot be asked counts as if it had", () => {
  expect(isCasefolded(folder)).toBe(false);
  const closed = openSync(sandbox.base, constants.O_RDONLY);
  closeSync(closed);
  expect(isCasefolded(closed)).toBe(true);
});

test("a file system without flags has none set", () => {
  const proc = openSync("/proc/self", constants.O_RDONLY);
  expect(isCasefolded(proc)).toBe(false);
  closeSync(proc);
});

test("a kernel that does not know the flag says so, where there is sysfs", () => {
  const isThere = !existsSync("/sys/fs") || existsSync("/sys/fs/ext4/features/casefold");
  expect(hasCasefold("ext4")).toBe(isThere);
  expect(hasCasefold("no-such-file-system")).toBe(!existsSync("/sys/fs"));
});
