import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { readEntries } from "../files/entries.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow, secret } from "../jail/jail.test-kit.ts";
import { type TransactionMark, temporaryName, transactionName } from "../jail/temporary.ts";
import { DiskTree } from "../operations/disk-tree.ts";
import { openDisk } from "./disk.ts";
import { Mutations } from "./mutations.ts";
import { sweepFolder } from "./sweep.ts";

/** Returns the name of a file left by an earlier process with the same process id. */
const leftBehind = () => temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");

/** Returns the name of a file made by a process in a container that is invisible from here. */
const elsewhere = () => temporaryName().replace(/^(\.coder-tmp-)[0-9a-f]{8}/, "$100000000");

describe.each(backends)("%s", (backend) => {
  test("what killed processes left is removed, in every folder, and nothing else", async () => {
    const kept = [
      temporaryName(),
      elsewhere(),
      ".coder-tmp-notes",
      `x${leftBehind()}`,
      `${leftBehind()}.user-file.txt`,
    ];
    const copy = leftBehind();
    using bench = new FilesFixture(backend, {
      [leftBehind()]: "",
      [`a/b/${leftBehind()}`]: "",
      [`a/${copy}/inner/file`]: "",
      [`a/${copy}/inner/.env`]: "",
      [`a/${copy}/out`]: { link: "../../../outside" },
      [`c/${elsewhere()}/file`]: "a copy that may be under way",
      [`d/${leftBehind()}x/file`]: "a folder that is none of ours",
      ...Object.fromEntries(kept.map((name) => [`a/${name}`, ""])),
      out: { link: "../outside" },
      [`../outside/${leftBehind()}`]: "not ours to remove",
    });
    chmodSync(bench.at(`a/${copy}/inner`), 0o555);
    const before = countDescriptorsBelow(bench.root);
    const outside = bench.outside();
    const others = () => Object.entries(bench.tree()).filter(([key]) => /^[cd]\//.test(key));
    const untouched = others();
    expect(await bench.files.sweep()).toBe(3);
    expect(existsSync(bench.at(`a/${copy}`))).toBe(false);
    expect(others()).toEqual(untouched);
    for (const name of kept) expect(bench.text(`a/${name}`)).toBe("");
    expect(bench.outside()).toEqual(outside);
    expect(await bench.files.sweep()).toBe(0);
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });

  test("a listing removes some of very many files, and the next one the next", () => {
    const names = Array.from({ length: 100 }, leftBehind);
    using bench = new FilesFixture(backend, Object.fromEntries(names.map((name) => [name, ""])));
    using folder = bench.jailed.admitFolder(".");
    const { disk } = bench;
    const scope = { mutations: new Mutations(), requester: undefined };
    const sweep = () => sweepFolder(scope, { folder, entries: runAtOnce(readEntries(folder)), disk });
    expect([sweep(), sweep(), sweep()]).toEqual([64, 36, 0]);
  });

  test("what nobody can be asked about goes when it is older than any call", () => {
    using bench = new FilesFixture(backend, { [elsewhere()]: "" });
    using folder = bench.jailed.admitFolder(".");
    const entries = runAtOnce(readEntries(folder));
    const { disk } = bench;
    const scope = { mutations: new Mutations(), requester: undefined };
    const sweep = (minutes: number) =>
      sweepFolder(scope, { folder, entries, disk, now: Date.now() + minutes * 60_000 });
    expect(sweep(119)).toBe(0);
    expect(sweep(121)).toBe(1);
    expect(bench.tree()).toEqual({});
  });

  test("a link with the name of a temporary file goes, and not what it leads to", async () => {
    using bench = new FilesFixture(backend, { [leftBehind()]: { link: "../outside/secret.txt" } });
    expect(await bench.files.sweep()).toBe(1);
    expect(bench.tree()).toEqual({});
    expect(bench.text("../outside/secret.txt")).toBe(secret);
  });

  test("a folder in which only a temporary folder is left counts as empty", async () => {
    using bench = new FilesFixture(backend, { [`d/${leftBehind()}/file`]: "" });
    expect(await bench.files.remove("d", { recursive: false }, bench.call)).toBe(true);
    expect(bench.tree()).toEqual({});
  });
});

test("entries of transactions stay, unless who has the records says that they are in use no more", async () => {
  const mark = (id: string): TransactionMark => ({ id: id.repeat(16), keeper: "01234567" });
  const nameOf = (id: string) =>
    transactionName(mark(id), 0).replace(/-[0-9a-z]+-([0-9a-f]{16}-[0-9a-f]{8}-0)$/, "-1-$1");
  using bench = new FilesFixture(backends[0]!, {
    [`d/${nameOf("a")}`]: "a",
    [`d/${nameOf("b")}`]: "b",
    [`d/${nameOf("c")}/f`]: "c",
  });
  const left = () => Object.keys(bench.tree()).filter((key) => key.includes("coder-tmp"));
  expect(await bench.files.sweep()).toBe(0);
  expect(left()).toHaveLength(4);
  const isAbandoned = ({ id }: TransactionMark) => id !== mark("a").id;
  const context = openDisk({
    jail: bench.jailed,
    config: { max_write_bytes: 1000, fsync: false },
    isAbandoned,
  });
  expect(await new DiskTree(context).sweep()).toBe(2);
  expect(left()).toEqual([`d/${nameOf("a")}`]);
});
