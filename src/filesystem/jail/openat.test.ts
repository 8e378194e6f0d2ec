import { afterAll, describe, expect, test } from "bun:test";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { OnDirent } from "./dirents.ts";
import { errnoOf } from "./errno.ts";
import { JailFixture } from "./jail.test-kit.ts";
import type { EntryKind } from "./kind.ts";
import {
  hasDirectOpenat,
  O_PATH,
  openAt,
  openBeneath,
  openNameAt,
  openThroughProc,
  readDirents,
  reopen,
  reopenThroughProc,
} from "./openat.ts";
import { endOffsetOn, fileSystemType } from "./pseudo.ts";

const sandbox = new JailFixture({
  "f.txt": "text",
  "d/": null,
  l: { link: "f.txt" },
  "ä日.txt": "",
});
const folder = openSync(sandbox.base, constants.O_RDONLY | constants.O_DIRECTORY);
const own = openSync("/proc/self/fd", constants.O_RDONLY | constants.O_DIRECTORY);
afterAll(() => {
  closeSync(own);
  closeSync(folder);
  sandbox[Symbol.dispose]();
});

test("Bun on Linux has the direct way", () => {
  expect(hasDirectOpenat()).toBe(true);
});

describe.each([
  ["directly", openAt],
  ["through procfs", openThroughProc],
  [
    "by the bytes of a name",
    (descriptor: number, name: string | Buffer, flags: number) => {
      const bytes = Buffer.concat([Buffer.from("before/"), Buffer.from(name), Buffer.from("behind")]);
      return openNameAt(descriptor, { bytes, from: 7, to: bytes.length - 6 }, flags);
    },
  ],
] as const)("%s", (_, open) => {
  const errno = (name: string | Buffer, flags: number): string | undefined => {
    try {
      closeSync(open(folder, name, flags));
      return undefined;
    } catch (error) {
      return errnoOf(error);
    }
  };

  test("opens a name in the folder", () => {
    const descriptor = open(folder, "f.txt", constants.O_RDONLY);
    expect(readFileSync(descriptor, "utf8")).toBe("text");
    closeSync(descriptor);
    expect(errno("ä日.txt", constants.O_RDONLY)).toBeUndefined();
    expect(errno(Buffer.from("f.txt"), constants.O_RDONLY)).toBeUndefined();
    expect(errno(".", O_PATH)).toBeUndefined();
  });

  test("opens names that are not UTF-8", () => {
    const raw = Buffer.from([0xff, 0x2e, 0x80]);
    writeFileSync(Buffer.concat([Buffer.from(`${sandbox.base}/`), raw]), "");
    expect(errno(raw, constants.O_RDONLY)).toBeUndefined();
  });

  test("throws the errno", () => {
    expect(errno("nothing", constants.O_RDONLY)).toBe("ENOENT");
    expect(errno("f.txt", O_PATH | constants.O_DIRECTORY)).toBe("ENOTDIR");
    expect(errno("n".repeat(300), constants.O_RDONLY)).toBe("ENAMETOOLONG");
    expect(errno("n".repeat(3000), constants.O_RDONLY)).toBe("ENAMETOOLONG");
    expect(errno("日".repeat(900), constants.O_RDONLY)).toBe("ENAMETOOLONG");
  });

  test("never follows a link", () => {
    expect(errno("l", constants.O_RDONLY)).toBe("ELOOP");
    const link = open(folder, "l", O_PATH);
    expect(fstatSync(link).isSymbolicLink()).toBe(true);
    closeSync(link);
  });

  test("takes one name and no path", () => {
    for (const name of ["..", "d/x", "", "f.txt\0x", "/etc"])
      expect(() => open(folder, name, O_PATH)).toThrow("one name");
  });

  test("is closed in programs that are started", () => {
    const descriptor = open(folder, "f.txt", constants.O_RDONLY);
    const [, flags] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))!;
    closeSync(descriptor);
    expect(Number.parseInt(flags!, 8) & 0o2000000).not.toBe(0); // O_CLOEXEC
  });
});

describe("several names in one step", () => {
  const opens = (path: string, what: "any" | "folder" | "list" = "any"): boolean => {
    const descriptor = openBeneath(folder, path, what);
    if (descriptor !== undefined) closeSync(descriptor);
    return descriptor !== undefined;
  };

  test("lead to what is there", () => {
    sandbox.add({ "d/ä/f.txt": "inner" });
    expect(["f.txt", "d", "d/ä", "d/ä/f.txt"].map((path) => opens(path))).toEqual([true, true, true, true]);
    const descriptor = openBeneath(folder, "d/ä/f.txt", "any")!;
    expect(readFileSync(`/proc/self/fd/${descriptor}`, "utf8")).toBe("inner");
    const [, flags] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))!;
    closeSync(descriptor);
    expect(Number.parseInt(flags!, 8) & O_PATH).toBe(O_PATH);
    expect(Number.parseInt(flags!, 8) & 0o2000000).not.toBe(0); // O_CLOEXEC
  });

  test("are not followed through a link, up, out of the folder or to another file system", () => {
    sandbox.add({ "d/up": { link: ".." }, self: { link: "d" } });
    for (const path of [
      "l",
      "self",
      "self/ä",
      "d/up/f.txt",
      "..",
      "d/../..",
      "/etc",
      "/etc/passwd",
      "nothing",
    ])
      expect([path, opens(path), opens(path, "list")]).toEqual([path, false, false]);
    const root = openSync("/", constants.O_RDONLY | constants.O_DIRECTORY);
    for (const path of ["proc", "proc/self", "proc/self/root"])
      for (const what of ["any", "list"] as const)
        expect([path, openBeneath(root, path, what)]).toEqual([path, undefined]);
    closeSync(root);
  });

  test("lead to a folder, where one is wanted", () => {
    for (const what of ["folder", "list"] as const)
      expect(["d", "f.txt", "d/ä/f.txt"].map((path) => opens(path, what))).toEqual([true, false, false]);
  });

  test("are taken at once up to the longest path of the system", () => {
    const [some, longest] = ["n/".repeat(1000), `${"n/".repeat(2047)}n`];
    sandbox.add({ [some]: null });
    expect(opens(some)).toBe(true);
    expect(opens(`${"./".repeat(1000)}${some}`)).toBe(true);
    expect([longest, `${longest}/n`, "é".repeat(2048)].map((path) => opens(path))).toEqual(
      Array(3).fill(false),
    );
  });
});

/** The offset that the file system here reports at the end of a folder. */
const knownEnd = endOffsetOn(fileSystemType(sandbox.base));
const unknownEnd = -1n;

function readAll(descriptor: number, onDirent: OnDirent, endOffset = knownEnd): "end" | undefined {
  for (let from: "set-back" | "next" = "set-back"; ; from = "next") {
    const read = readDirents({ descriptor, from, endOffset }, onDirent);
    if (read !== "more") return read;
  }
}

/** Reads the entries, or returns `undefined` if the system does not show them. */
function entriesOf(
  descriptor: number,
  endOffset = knownEnd,
): { name: string; kind: EntryKind | undefined }[] | undefined {
  const entries: { name: string; kind: EntryKind | undefined }[] = [];
  const onDirent: OnDirent = (bytes, from, to, kind) =>
    entries.push({ name: bytes.toString("latin1", from, to), kind });
  return readAll(descriptor, onDirent, endOffset) === "end" ? entries : undefined;
}

describe("a folder's entries", () => {
  test("are told as often as asked, by a descriptor that may be read", () => {
    sandbox.add({ "list/b": "", "list/a/inner": "", "list/c": { link: "b" } });
    Bun.spawnSync(["mkfifo", sandbox.at("list/d")]);
    const descriptor = openBeneath(folder, "list", "list")!;
    for (const endOffset of [unknownEnd, knownEnd, unknownEnd]) {
      const byName = entriesOf(descriptor, endOffset)!.sort((one, other) => (one.name < other.name ? -1 : 1));
      expect(byName.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
        "a dir",
        "b file",
        "c symlink",
        "d other",
      ]);
    }
    closeSync(descriptor);
    const unread = openBeneath(folder, "list", "folder")!;
    expect(entriesOf(unread)).toBeUndefined();
    closeSync(unread);
    expect(entriesOf(123_456)).toBeUndefined();
  });

  test("of a folder that is removed meanwhile are told in part, and then what is wrong with it", () => {
    const names = Array.from({ length: 5000 }, (_, i) => [`going/file-${i}`, ""]);
    sandbox.add(Object.fromEntries(names));
    const descriptor = openBeneath(folder, "going", "list")!;
    let reported = 0;
    const list = () =>
      readAll(descriptor, () => {
        if (reported++ === 0) rmSync(`${sandbox.base}/going`, { recursive: true });
      });
    expect(list).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(reported).toBeGreaterThan(0);
    closeSync(descriptor);
  });

  test("are all told, by their bytes, however many and long", () => {
    const base = Buffer.from(`${sandbox.at("many")}/`);
    sandbox.add({ "many/": null });
    for (let length = 1; length <= 255; length++) {
      for (const unit of [[0x78], [0x2e], [0xff], [0x20, 0xc3]])
        if (unit[0] !== 0x2e || length > 2)
          writeFileSync(Buffer.concat([base, Buffer.alloc(length, Buffer.from(unit))]), "");
    }
    const descriptor = openBeneath(folder, "many", "list")!;
    const names = entriesOf(descriptor, unknownEnd)!.map(({ name }) => name);
    expect(entriesOf(descriptor)!.map(({ name }) => name)).toEqual(names);
    closeSync(descriptor);
    expect(names.toSorted()).toEqual(readdirSync(base, { encoding: "latin1" }).toSorted());
    // This is more than one read returns.
    expect(names.join("").length).toBeGreaterThan(100_000);
  });

  test("are all told to a process that gets signals all the time", async () => {
    sandbox.add(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`busy/file-${i}`, ""])));
    const descriptor = openBeneath(folder, "busy", "list")!;
    const { promise: signalled, resolve: handle } = Promise.withResolvers<unknown>();
    process.on("SIGUSR2", handle);
    const sender = Bun.spawn(["sh", "-c", `while kill -s USR2 ${process.pid}; do :; done`]);
    await signalled;
    const counts = new Set<number>();
    for (let round = 0; round < 1000; round++) counts.add(entriesOf(descriptor)!.length);
    sender.kill();
    await sender.exited;
    process.off("SIGUSR2", handle);
    closeSync(descriptor);
    expect([...counts]).toEqual([500]);
  });
});

test.each([
  ["directly", (descriptor: number) => reopen(own, descriptor, constants.O_RDONLY)],
  ["through procfs", (descriptor: number) => reopenThroughProc(descriptor, constants.O_RDONLY)],
])("a file that is held can be opened %s, whatever has its name now", (_, open) => {
  sandbox.add({ "held.txt": "held" });
  const held = openAt(folder, "held.txt", O_PATH);
  renameSync(`${sandbox.base}/held.txt`, `${sandbox.base}/moved.txt`);
  sandbox.add({ "held.txt": "another" });
  const descriptor = open(held);
  expect(readFileSync(descriptor, "utf8")).toBe("held");
  for (const each of [held, descriptor]) closeSync(each);
  rmSync(`${sandbox.base}/moved.txt`);
  expect(() => open(123_456)).toThrow("ENOENT");
});
