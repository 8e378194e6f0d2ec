/**
 * A program that changes a tree at random: `FOLDER OUTSIDE SEED`. For each number on its standard input, one
 * per line, it makes that many changes, and then prints a line with the number of those that succeeded.
 */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { randomFrom } from "../../../tests/harness/random.ts";
import { openLibc } from "../../base/bun.ts";

interface Libc {
  open(path: Uint8Array, flags: number, mode: number): number;
  linkat(from: number, path: Uint8Array, to: number, name: Uint8Array, flags: number): number;
  renameat2(from: number, path: Uint8Array, to: number, name: Uint8Array, flags: number): number;
  mmap(
    at: null,
    bytes: number,
    protection: number,
    flags: number,
    descriptor: number,
    offset: number,
  ): number;
  munmap(at: number, bytes: number): number;
  memset(at: number, byte: number, bytes: number): number;
  copy_file_range(
    from: number,
    fromAt: null,
    to: number,
    toAt: null,
    bytes: number,
    flags: number,
  ): number | bigint;
  fallocate(descriptor: number, mode: number, offset: number, bytes: number): number;
  ioctl(descriptor: number, request: number, value: number): number;
}

const writerCalls = openLibc<Libc>({
  open: { args: ["ptr", "i32", "u32"], returns: "i32" },
  linkat: { args: ["i32", "ptr", "i32", "ptr", "i32"], returns: "i32" },
  renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" },
  mmap: { args: ["ptr", "u64", "i32", "i32", "i32", "i64"], returns: "ptr" },
  munmap: { args: ["ptr", "u64"], returns: "i32" },
  memset: { args: ["ptr", "i32", "u64"], returns: "ptr" },
  copy_file_range: { args: ["i32", "ptr", "i32", "ptr", "u64", "u32"], returns: "i64_fast" },
  fallocate: { args: ["i32", "i32", "i64", "i64"], returns: "i32" },
  ioctl: { args: ["i32", "u64", "i32"], returns: "i32" },
})!;

/** fcntl.h, linux/fs.h, sys/mman.h */
const [AT_FDCWD, AT_SYMLINK_FOLLOW, RENAME_EXCHANGE, FICLONE] = [-100, 0x400, 2, 0x40049409];
const [O_WRONLY, O_TMPFILE] = [1, 0o20200000];
const [KEEP_SIZE, PUNCH_HOLE] = [1, 2];
const [PROT_READ_WRITE, MAP_SHARED] = [3, 1];

/** Encodes a path as an argument of libc. */
const c = (path: string): Uint8Array => Buffer.from(`${path}\0`);

/** Throws if the call failed. */
function check(result: number | bigint): number {
  if (result < 0) throw new Error("a call failed");
  return Number(result);
}

/** Maps the first page of a non-empty file, for stores that other programs see. */
export function mapShared(path: string): { store(byte: number): void; end(): void } {
  const descriptor = openSync(path, "r+");
  try {
    // A store past the end of the file would end this process.
    if (fstatSync(descriptor).size === 0) throw new Error("the file is empty");
    const at = writerCalls.mmap(null, pageBytes, PROT_READ_WRITE, MAP_SHARED, descriptor, 0);
    return {
      store: (byte) => void writerCalls.memset(at, byte, 1),
      end: () => void writerCalls.munmap(at, pageBytes),
    };
  } finally {
    closeSync(descriptor);
  }
}

const pageBytes = 4096;

/** Runs `act` with both files open, creating the first if needed. */
function withFiles(from: string, to: string, act: (from: number, to: number) => void): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "a+");
    closeSync(target);
    const written = openSync(to, "r+");
    try {
      act(source, written);
    } finally {
      closeSync(written);
    }
  } finally {
    closeSync(source);
  }
}

function linkTemporary(folder: string, path: string, text: string): void {
  const descriptor = check(writerCalls.open(c(folder), O_TMPFILE | O_WRONLY, 0o644));
  try {
    writeSync(descriptor, text);
    const own = c(`/proc/self/fd/${descriptor}`);
    check(writerCalls.linkat(AT_FDCWD, own, AT_FDCWD, c(path), AT_SYMLINK_FOLLOW));
  } finally {
    closeSync(descriptor);
  }
}

/** There are few names, so that changes meet. */
const folderNames = ["a", "b", "c"];
const fileNames = ["a", "a.b", "b-", "f", "g"];

async function main([base, outside, seed]: readonly string[]): Promise<void> {
  const random = randomFrom(Number(seed));
  const held: number[] = [];
  let count = 0;
  const folder = (): string => {
    let path = base!;
    for (let depth = random.below(4); depth > 0; depth--) path = join(path, random.pick(folderNames));
    return path;
  };
  /** Picks a folder other than the base. */
  const inner = () => {
    const path = folder();
    return path === base ? join(path, random.pick(folderNames)) : path;
  };
  const file = () => join(folder(), random.pick(fileNames));
  const beside = () => join(outside!, random.pick(fileNames));
  const text = () => `${"x".repeat(random.below(30))} ${count++}\n`;
  const changes: Readonly<Record<string, () => void>> = {
    write: () => writeFileSync(file(), text()),
    writeMore: () => writeFileSync(file(), text()),
    append: () => appendFileSync(file(), text()),
    truncate: () => truncateSync(file(), random.below(20)),
    replace() {
      const [target, temporary] = [file(), file()];
      writeFileSync(temporary, text());
      renameSync(temporary, target);
    },
    hold() {
      if (held.length >= 4) closeSync(held.shift()!);
      held.push(openSync(file(), "r+"));
    },
    writeHeld: () => void writeSync(random.pick(held), text(), random.below(8)),
    syncHeld: () => fsyncSync(random.pick(held)),
    moveFile: () => renameSync(file(), file()),
    moveFolder: () => renameSync(inner(), inner()),
    exchange: () =>
      void check(
        writerCalls.renameat2(
          AT_FDCWD,
          c(random.chance(0.5) ? file() : inner()),
          AT_FDCWD,
          c(random.chance(0.5) ? file() : inner()),
          RENAME_EXCHANGE,
        ),
      ),
    makeFolders: () => void mkdirSync(folder(), { recursive: true }),
    makeAndFill() {
      const made = folder();
      mkdirSync(made, { recursive: true });
      for (const name of fileNames.slice(0, 2)) writeFileSync(join(made, name), text());
    },
    remove: () => unlinkSync(file()),
    removeFolder() {
      if (random.chance(0.3)) rmSync(inner(), { recursive: true });
    },
    link: () => linkSync(file(), file()),
    linkForAMoment() {
      const [from, to] = [file(), file()];
      linkSync(from, to);
      appendFileSync(to, text());
      unlinkSync(to);
    },
    linkInNewFolder() {
      const [from, made] = [file(), join(folder(), `new-${count++}`)];
      mkdirSync(made);
      try {
        linkSync(from, join(made, "f"));
        appendFileSync(join(made, "f"), text());
      } finally {
        rmSync(made, { recursive: true });
      }
    },
    linkIn() {
      const source = beside();
      writeFileSync(source, text());
      linkSync(source, file());
      writeFileSync(source, text());
    },
    moveOut: () => renameSync(random.chance(0.5) ? file() : inner(), beside()),
    moveIn: () => renameSync(beside(), random.chance(0.5) ? file() : inner()),
    moveInFilled() {
      const made = join(outside!, `filled-${count++}`);
      mkdirSync(join(made, "a/b"), { recursive: true });
      for (const name of ["f", "a/f", "a/b/f"]) writeFileSync(join(made, name), text());
      try {
        renameSync(made, inner());
      } catch (error) {
        rmSync(made, { recursive: true });
        throw error;
      }
    },
    moveBase() {
      const away = `${base}-away`;
      renameSync(base!, away);
      try {
        writeFileSync(join(away, random.pick(fileNames)), text());
      } finally {
        renameSync(away, base!);
      }
    },
    symlink: () => symlinkSync(random.pick(fileNames), file()),
    symlinkOver() {
      const temporary = join(base!, `link-${count++}`);
      symlinkSync("nowhere", temporary);
      try {
        renameSync(temporary, file());
      } catch (error) {
        unlinkSync(temporary);
        throw error;
      }
    },
    temporary: () => linkTemporary(folder(), file(), text()),
    copy: () => copyFileSync(file(), file()),
    copyRange: () =>
      withFiles(file(), file(), (from, to) =>
        check(writerCalls.copy_file_range(from, null, to, null, 10, 0)),
      ),
    clone: () => withFiles(file(), file(), (from, to) => check(writerCalls.ioctl(to, FICLONE, from))),
    punch() {
      const descriptor = openSync(file(), "r+");
      try {
        check(writerCalls.fallocate(descriptor, KEEP_SIZE | PUNCH_HOLE, 0, 1 + random.below(9)));
      } finally {
        closeSync(descriptor);
      }
    },
    allocate() {
      const descriptor = openSync(file(), "r+");
      try {
        check(writerCalls.fallocate(descriptor, 0, 0, 1 + random.below(60)));
      } finally {
        closeSync(descriptor);
      }
    },
    mapping() {
      const mapping = mapShared(file());
      mapping.store(0x41 + random.below(26));
      mapping.end();
    },
    mode: () => chmodSync(random.chance(0.5) ? file() : inner(), random.pick([0o700, 0o755])),
    times: () => utimesSync(random.chance(0.5) ? file() : inner(), random.below(1e9), random.below(1e9)),
  };
  const all = Object.values(changes);
  for await (const line of createInterface({ input: process.stdin })) {
    let made = 0;
    for (let tries = 0; made < Number(line) && tries < 100 * Number(line); tries++) {
      try {
        random.pick(all)();
        made++;
      } catch {
        // The file did not exist, or was of a different kind.
      }
    }
    process.stdout.write(`${made}\n`);
  }
}

if (import.meta.main) await main(process.argv.slice(2));
