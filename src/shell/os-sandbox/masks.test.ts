import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMasks } from "./masks.ts";
import { hasMountsBelowProc } from "./mount-trial.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads a mask, which only root may do. */
function read(mask: string): string {
  chmodSync(mask, 0o400);
  return readFileSync(mask, "utf8");
}

test("a mask is regular and blank, without rights, of the size and time of what it hides", () => {
  const masks = openMasks(folder, true);
  const path = join(folder, "secret");
  writeFileSync(path, "secret\n", { mode: 0o644 });
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  const mask = masks.over(path);
  expect(masks.over(path)).toBe(mask);
  const { size, mtimeMs, mode } = statSync(mask);
  expect([size, mtimeMs, mode.toString(8)]).toEqual([7, 1_700_000_000_000, "100000"]);
  expect(read(mask)).toBe("\n".repeat(7));
  truncateSync(path, 1024 * 1024);
  const other = masks.over(path);
  expect(other).not.toBe(mask);
  expect(statSync(other).size).toBe(1024 * 1024);
  expect(read(other).trim().replaceAll("\0", "")).toBe("");
});

test("a user who is not root may read a mask in a repository, where git opens it", () => {
  mkdirSync(join(folder, "masks"));
  const masks = openMasks(join(folder, "masks"), false);
  const modeOver = (name: string) => {
    writeFileSync(join(folder, name), "secret\n", { mode: 0o755 });
    return (statSync(masks.over(join(folder, name))).mode & 0o777).toString(8);
  };
  for (const name of ["plain", "clone/.git", "clone/sub"]) mkdirSync(join(folder, name), { recursive: true });
  expect(["plain/secret", "clone/secret", "clone/sub/secret"].map(modeOver)).toEqual(["100", "500", "500"]);
});

test.each([
  ["24 1 0:21 / /proc rw - proc proc rw", false],
  ["24 1 0:21 / /proc/sys/fs/binfmt_misc rw - autofs a rw", false],
  ["24 1 0:21 /null /proc/kcore rw - tmpfs t rw", true],
  ["24 1 0:21 / /process rw - tmpfs t rw", false],
])("what is mounted below /proc: %s", (line, expected) => {
  expect(hasMountsBelowProc(`${line}\n`)).toBe(expected);
});
