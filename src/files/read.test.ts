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
import { backends, openDescriptors } from "../jail/jail.test-kit.ts";
import { FilesFixture, reasonOf } from "./files.test-kit.ts";
import { readAtMost } from "./read.ts";
import { ScratchBuffer } from "./scratch-buffer.ts";

const limit = { key: "max_read_bytes", bytes: 100 };

describe.each(backends)("%s", (backend) => {
  const read = (bench: FilesFixture, path: string) =>
    bench.files.read(path, limit, (bytes, stats) => ({ bytes: Buffer.from(bytes), stats }));

  test("a file is read whole, with its stats", () => {
    using bench = new FilesFixture(backend, { "base/d/a.txt": "text", "base/l": { link: "d/a.txt" } });
    chmodSync(bench.at("base/d/a.txt"), 0o640);
    utimesSync(bench.at("base/d/a.txt"), 1, 1700000000.9);
    for (const path of ["d/a.txt", "l"]) {
      const { bytes, stats } = read(bench, path);
      expect(bytes.toString()).toBe("text");
      expect(stats).toEqual({ kind: "file", size: 4, mtime: 1700000000, mode: 0o640 });
    }
  });

  test("the limit is exact", async () => {
    using bench = new FilesFixture(backend, {
      "base/fits": "x".repeat(100),
      "base/over": "x".repeat(101),
      "base/empty": "",
    });
    expect(read(bench, "fits").bytes).toHaveLength(100);
    expect(read(bench, "empty").bytes).toHaveLength(0);
    expect(await reasonOf(() => read(bench, "over"))).toBe("too-large");
    expect(() => read(bench, "over")).toThrow("max_read_bytes (100 bytes)");
  });

  test("a sparse file of a tebibyte is refused unread", async () => {
    using bench = new FilesFixture(backend, { "base/sparse": "" });
    truncateSync(bench.at("base/sparse"), 2 ** 40);
    expect(await reasonOf(() => read(bench, "sparse"))).toBe("too-large");
  });

  test("what is no regular file is refused and never opened", async () => {
    using bench = new FilesFixture(backend, { "base/d": null });
    Bun.spawnSync(["mkfifo", bench.at("base/fifo")]);
    const server = createServer().listen(bench.at("base/socket"));
    for (const path of [".", "d", "d/", "fifo"])
      expect(await reasonOf(() => read(bench, path))).toBe("wrong-kind");
    server.close();
  });

  test("missing and denied are one sentence", async () => {
    using bench = new FilesFixture(backend, { "base/.env": "password" });
    expect(await reasonOf(() => read(bench, ".env"))).toBe("denied");
    expect(await reasonOf(() => read(bench, "d/.env"))).toBe("denied");
    expect(await reasonOf(() => read(bench, "env"))).toBe("missing");
  });

  test("links that lead outside are refused", async () => {
    using bench = new FilesFixture(backend, { "base/out": { link: "../outside/secret.txt" } });
    expect(await reasonOf(() => read(bench, "out"))).toBe("outside");
    expect(bench.text("base/out")).toBe("the outside secret");
  });

  test("no descriptor is left open", async () => {
    using bench = new FilesFixture(backend, {
      "base/d/a.txt": "text",
      "base/over": "x".repeat(101),
      "base/.env": "",
    });
    const before = openDescriptors(bench.root);
    for (const path of ["d/a.txt", "over", ".env", "d", "nothing"]) await reasonOf(() => read(bench, path));
    expect(openDescriptors(bench.root)).toBe(before);
  });
});

describe("a file that changes while it is read", () => {
  const open = (bench: FilesFixture, text: string) => {
    writeFileSync(bench.at("base/f"), text);
    return openSync(bench.at("base/f"), "r");
  };

  test("may have grown", () => {
    using bench = new FilesFixture(backends[0]!);
    const descriptor = open(bench, "x".repeat(10));
    appendFileSync(bench.at("base/f"), "y".repeat(20_000));
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
