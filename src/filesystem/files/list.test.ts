import { describe, expect, test } from "bun:test";
import { chmodSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { backends } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { FilesFixture } from "./files.test-kit.ts";

describe.each(backends)("%s", (backend) => {
  const namesIn = async (bench: FilesFixture, path = ".") => {
    using folder = bench.jailed.admitFolder(path);
    return (await bench.files.list(folder, bench.pace)).map(({ name }) => name);
  };

  test("entries are sorted by bytes, of all kinds, without following links", async () => {
    using bench = new FilesFixture(backend, {
      b: "",
      "a/x": "",
      B: "",
      "a-b": "",
      "\u{1f600}": "",
      "\uffee": "",
      ä: "",
      link: { link: "../outside" },
      ".env": "",
    });
    Bun.spawnSync(["mkfifo", bench.at("fifo")]);
    using folder = bench.jailed.admitFolder(".");
    const entries = (await bench.files.list(folder, bench.pace)).map(({ name, kind }) => [name, kind]);
    expect(entries).toEqual([
      [".env", "file"],
      ["B", "file"],
      ["a", "dir"],
      ["a-b", "file"],
      ["b", "file"],
      ["fifo", "other"],
      ["link", "symlink"],
      ["ä", "file"],
      ["\uffee", "file"], // by UTF-16 code units this would come last
      ["\u{1f600}", "file"],
    ]);
  });

  test("names that are not UTF-8 are listed as text and reached by their bytes", async () => {
    using bench = new FilesFixture(backend);
    for (const bytes of [[0xff], [0xc3, 0x28], [0x61]]) {
      writeFileSync(Buffer.concat([Buffer.from(`${bench.base}/`), Buffer.from(bytes)]), "four");
    }
    using folder = bench.jailed.admitFolder(".");
    const entries = await bench.files.list(folder, bench.pace);
    expect(entries.map(({ name }) => name)).toEqual(["a", "\ufffd(", "\ufffd"]);
    expect(entries.map((entry) => bench.files.stat(folder, entry)?.size)).toEqual([4, 4, 4]);
  });

  test("a page is a part of the list, with the number of all that is in it", async () => {
    using bench = new FilesFixture(backend, {
      b: "",
      "a/x": "",
      ä: "",
      "\u{1f600}": "",
    });
    writeFileSync(Buffer.concat([Buffer.from(`${bench.base}/`), Buffer.from([0xc3, 0x28])]), "");
    writeFileSync(bench.at(temporaryName()), "");
    using folder = bench.jailed.admitFolder(".");
    const all = await bench.files.list(folder, bench.pace);
    for (const [from, to] of [
      [0, 2],
      [1, 4],
      [0, 9],
      [4, 9],
      [5, 9],
    ] as const) {
      expect(await bench.files.page(folder, { from, to }, bench.pace)).toEqual({
        entries: all.slice(from, to),
        total: 5,
      });
    }
  });

  test("a name that has U+FFFD in it for real is text", async () => {
    using bench = new FilesFixture(backend, { "\ufffd": "" });
    using folder = bench.jailed.admitFolder(".");
    expect((await bench.files.list(folder, bench.pace))[0]?.raw).toBe("\ufffd");
  });

  test("temporary files are left out, and swept when nobody uses them", async () => {
    using bench = new FilesFixture(backend, { a: "" });
    const alive = temporaryName();
    const dead = alive.replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");
    bench.add({ [alive]: "", [dead]: "", ".coder-tmp-notes": "" });
    expect(await namesIn(bench)).toEqual(["a"]);
    expect(Object.keys(bench.tree()).sort()).toEqual([".coder-tmp-notes", `${alive}`, "a"].sort());
  });

  test("stats are those of the entry itself", async () => {
    using bench = new FilesFixture(backend, { f: "text", l: { link: "f" }, gone: "" });
    chmodSync(bench.at("f"), 0o4751);
    utimesSync(bench.at("f"), 1, 1700000000.9);
    using folder = bench.jailed.admitFolder(".");
    const [file, gone, link] = await bench.files.list(folder, bench.pace);
    expect(bench.files.stat(folder, file!)).toEqual({
      kind: "file",
      size: 4,
      mtime: 1700000000,
      mode: 0o751,
    });
    expect(bench.files.stat(folder, link!)).toMatchObject({ kind: "symlink", size: 1 });
    Bun.spawnSync(["rm", bench.at("gone")]);
    expect(bench.files.stat(folder, gone!)).toBeUndefined();
  });

  test("a size beyond 32 bits is told", async () => {
    using bench = new FilesFixture(backend, { f: "" });
    truncateSync(bench.at("f"), 2 ** 40);
    using folder = bench.jailed.admitFolder(".");
    expect(bench.files.stat(folder, (await bench.files.list(folder, bench.pace))[0]!)?.size).toBe(2 ** 40);
  });

  test("a folder that is removed meanwhile is missing", async () => {
    using bench = new FilesFixture(backend, { "d/": null });
    using folder = bench.jailed.admitFolder("d");
    Bun.spawnSync(["rmdir", bench.at("d")]);
    await expect(bench.files.list(folder, bench.pace)).rejects.toThrow('"d" is not found');
  });
});
