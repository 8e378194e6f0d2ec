import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, type StatsFs, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDiskWatch, excess, readFree } from "./disk-watch.ts";

const gibibyte = 1024 ** 3;
const limits = { disk_bytes: 2 * gibibyte, disk_files: 1000 };
/** Returns the free space of a file system with room for 10,000 files. */
const free = (gibibytes: number, files?: number) => ({
  bytes: gibibytes * gibibyte,
  files,
  filesUsed: files === undefined ? undefined : 10_000 - files,
});

describe("a command has to end", () => {
  test.each([
    ["bytes beyond the limit", free(100, 5000), free(97, 5000), "limits.disk_bytes"],
    ["files beyond the limit", free(100, 5000), free(100, 3999), "room for 3999 files left, of 5000"],
    ["nine tenths of the bytes", free(1), free(0.05), "limits.disk_bytes"],
    ["nine tenths of the files", free(1, 100), free(1, 9), "limits.disk_files"],
  ] as const)("for %s", (_, atStart, now, reason) => {
    expect(excess(atStart, now, limits)).toContain(reason);
  });

  test.each([
    ["less than the limits", free(100, 5000), free(98, 4000), limits],
    ["what others have freed", free(1, 10), free(50, 5000), limits],
    ["no limits", free(100, 5000), free(0, 0), { disk_bytes: 0, disk_files: 0 }],
    ["files where none are counted", free(100), free(100), limits],
    // XFS and ZFS make room for files from free space.
    [
      "room for files that the bytes took",
      { ...free(100, 5000), filesUsed: 10 },
      { ...free(99, 3000), filesUsed: 11 },
      limits,
    ],
    ["a file system that does not answer", undefined, free(0), limits],
    ["one that answers no more", free(100), undefined, limits],
  ] as const)("but not for %s", (_, atStart, now, chosen) => {
    expect(excess(atStart, now, chosen)).toBeUndefined();
  });
});

test("what is free is what this user may take", () => {
  const stats = { bsize: 1024, bfree: 5, bavail: 3, files: 10, ffree: 4 };
  expect(readFree(stats, 0)).toEqual({ bytes: 5 * 1024, files: 4, filesUsed: 6 });
  expect(readFree({ ...stats, files: 0, ffree: 0 }, 1000)).toEqual({ bytes: 3 * 1024 });
});

test("a command is ended while it runs, by what the file system says", async () => {
  const vanishing = mkdtempSync(join(tmpdir(), "coder-"));
  const watch = createDiskWatch([tmpdir(), vanishing], { disk_bytes: 1, disk_files: 1 });
  // A command may remove a folder inside another writable one.
  rmSync(vanishing, { recursive: true });
  const { promise: ended, resolve: markEnded } = Promise.withResolvers<void>();
  const { promise: reason, resolve: end } = Promise.withResolvers<string>();
  (await watch())({ ended, end });
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  let files = 0;
  const writer = setInterval(
    () => writeFileSync(join(folder, `${files++}`), Buffer.alloc(1024 * 1024, 1)),
    5,
  );
  expect(await reason).toMatch(/^the file system has .* left/);
  clearInterval(writer);
  rmSync(folder, { recursive: true });
  markEnded();
});

/** Returns the statfs(2) of a file system with this many of 10,000 files. */
const statistics = (files: number) =>
  ({ bsize: 1024, bfree: 10_000, bavail: 10_000, files: 10_000, ffree: 10_000 - files }) as StatsFs;

test("a command starts once the disk has been measured, and what it makes from then on counts", async () => {
  const answers: ((read: StatsFs) => void)[] = [];
  const read = () => new Promise<StatsFs>((resolve) => answers.push(resolve));
  const watch = createDiskWatch([tmpdir()], { disk_bytes: 0, disk_files: 100 }, read);
  let files = 5;
  const starting = watch().then((watchRunning) => {
    files += 101;
    return new Promise<string>((end) => watchRunning({ ended: new Promise(() => {}), end }));
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(files).toBe(5);
  answers.shift()!(statistics(files));
  while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  answers.shift()!(statistics(files));
  expect(await starting).toContain("limits.disk_files allows no less");
});

test("a file system that does not answer keeps no command from its start, and no other from being watched", async () => {
  const silent = "/dev";
  let files = 5;
  const read = (folder: string) =>
    folder === silent ? new Promise<StatsFs>(() => {}) : Promise.resolve(statistics(files));
  const watch = createDiskWatch([tmpdir(), silent], { disk_bytes: 0, disk_files: 100 }, read);
  const watchRunning = await watch();
  files += 101;
  const reason = await new Promise<string>((end) => watchRunning({ ended: new Promise(() => {}), end }));
  expect(reason).toContain("limits.disk_files allows no less");
});
