import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  openSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { FilesFixture, reasonOf } from "./files.test-kit.ts";
import { readAtMost } from "./read.ts";
import { ScratchBuffer } from "./scratch-buffer.ts";

const limit = { key: "max_read_bytes", bytes: 100 };

describe.each(backends)("%s", (backend) => {
  const read = (bench: FilesFixture, path: string) =>
    bench.files.read(path, limit, (bytes, stats) => ({ bytes: Buffer.from(bytes), stats }));

  test("a file is read whole, with its stats", () => {
    using bench = new FilesFixture(backend, { "d/a.txt": "text", l: { link: "d/a.txt" } });
    chmodSync(bench.at("d/a.txt"), 0o640);
    utimesSync(bench.at("d/a.txt"), 1, 1700000000.9);
    for (const path of ["d/a.txt", "l"]) {
      const { bytes, stats } = read(bench, path);
      expect(bytes.toString()).toBe("text");
      expect(stats).toEqual({ kind: "file", size: 4, mtime: 1700000000, mode: 0o640 });
    }
  });

  test("the limit is exact", async () => {
    using bench = new FilesFixture(backend, {
      fits: "x".repeat(100),
      over: "x".repeat(101),
      empty: "",
    });
    expect(read(bench, "fits").bytes).toHaveLength(100);
    expect(read(bench, "empty").bytes).toHaveLength(0);
    expect(await reasonOf(() => read(bench, "over"))).toBe("too-large");
    expect(() => read(bench, "over")).toThrow("max_read_bytes (100 bytes)");
  });

  test("a file over the limit is left to who wants it otherwise, and not opened for nothing", async () => {
    using bench = new FilesFixture(backend, {
      over: "x".repeat(101),
      fits: "text",
      "d/": null,
    });
    const before = countDescriptorsBelow(bench.root);
    const use = (path: string, isOpened: boolean) =>
      bench.files.readOrOpen<string>(path, limit, {
        whole: (bytes) => `whole ${bytes}`,
        large: ({ size }, open) => {
          if (isOpened) open().close();
          return `${size} bytes`;
        },
      });
    expect([use("fits", true), use("over", true), use("over", false)]).toEqual([
      "whole text",
      "101 bytes",
      "101 bytes",
    ]);
    for (const [path, reason] of [
      ["d", "wrong-kind"],
      [".env", "denied"],
      ["none", "missing"],
    ] as const)
      expect(await reasonOf(() => use(path, true))).toBe(reason);
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });

  test("a sparse file of a tebibyte is refused unread", async () => {
    using bench = new FilesFixture(backend, { sparse: "" });
    truncateSync(bench.at("sparse"), 2 ** 40);
    expect(await reasonOf(() => read(bench, "sparse"))).toBe("too-large");
  });

  test("what is no regular file is refused and never opened", async () => {
    using bench = new FilesFixture(backend, { "d/": null });
    Bun.spawnSync(["mkfifo", bench.at("fifo")]);
    const server = createServer().listen(bench.at("socket"));
    for (const path of [".", "d", "d/", "fifo"])
      expect(await reasonOf(() => read(bench, path))).toBe("wrong-kind");
    server.close();
  });

  test("missing and denied are one sentence", async () => {
    using bench = new FilesFixture(backend, { ".env": "password" });
    expect(await reasonOf(() => read(bench, ".env"))).toBe("denied");
    expect(await reasonOf(() => read(bench, "d/.env"))).toBe("denied");
    expect(await reasonOf(() => read(bench, "env"))).toBe("missing");
  });

  test("links that lead outside are refused", async () => {
    using bench = new FilesFixture(backend, { out: { link: "../outside/secret.txt" } });
    expect(await reasonOf(() => read(bench, "out"))).toBe("outside");
    expect(bench.text("out")).toBe("the outside secret");
  });

  test("no descriptor is left open", async () => {
    using bench = new FilesFixture(backend, {
      "d/a.txt": "text",
      over: "x".repeat(101),
      ".env": "",
    });
    const before = countDescriptorsBelow(bench.root);
    for (const path of ["d/a.txt", "over", ".env", "d", "nothing"]) await reasonOf(() => read(bench, path));
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });
});

describe("a file that changes while it is read", () => {
  const open = (bench: FilesFixture, text: string) => {
    writeFileSync(bench.at("f"), text);
    return openSync(bench.at("f"), "r");
  };

  test("may have grown", () => {
    using bench = new FilesFixture(backends[0]!);
    const descriptor = open(bench, "x".repeat(10));
    appendFileSync(bench.at("f"), "y".repeat(20_000));
    expect(readAtMost(descriptor, { expected: 10, most: 100_000 }, new ScratchBuffer()).toString()).toBe(
      "x".repeat(10) + "y".repeat(20_000),
    );
    closeSync(descriptor);
  });

  test("is not read past the limit, however it grows", () => {
    using bench = new FilesFixture(backends[0]!);
    const descriptor = open(bench, "x".repeat(20_000));
    expect(readAtMost(descriptor, { expected: 10, most: 101 }, new ScratchBuffer())).toHaveLength(101);
    closeSync(descriptor);
  });

  test("may have grown in a buffer that is larger than it", () => {
    using bench = new FilesFixture(backends[0]!);
    const descriptor = open(bench, "x".repeat(300));
    using room = new ScratchBuffer();
    room.reserve(100_000).fill("old");
    expect(readAtMost(descriptor, { expected: 10, most: 101 }, room).toString()).toBe("x".repeat(101));
    closeSync(descriptor);
  });

  test("may have shrunk", () => {
    using bench = new FilesFixture(backends[0]!);
    const descriptor = open(bench, "xyz");
    expect(readAtMost(descriptor, { expected: 1000, most: 2000 }, new ScratchBuffer()).toString()).toBe(
      "xyz",
    );
    closeSync(descriptor);
  });
});
