import { describe, expect, test } from "bun:test";
import { backends, openDescriptors } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { readEntries } from "./entries.ts";
import { FilesFixture } from "./files.test-kit.ts";
import { Mutations } from "./mutations.ts";
import { sweepFolder } from "./sweep.ts";

/** As the process left it that had our number before us. */
const leftBehind = () => temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");

/** As a process in a container that we cannot see into would name it. */
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
    using bench = new FilesFixture(backend, {
      [`base/${leftBehind()}`]: "",
      [`base/a/b/${leftBehind()}`]: "",
      [`base/a/${leftBehind()}/file`]: "a folder is never one of ours",
      [`base/secrets/${leftBehind()}/x`]: "",
      ...Object.fromEntries(kept.map((name) => [`base/a/${name}`, ""])),
      "base/out": { link: "../outside" },
      [`outside/${leftBehind()}`]: "not ours to remove",
    });
    const before = openDescriptors(bench.root);
    const outside = bench.snapshot("outside");
    expect(await bench.files.sweep()).toBe(2);
    for (const name of kept) expect(bench.text(`base/a/${name}`)).toBe("");
    expect(bench.snapshot("outside")).toEqual(outside);
    expect(await bench.files.sweep()).toBe(0);
    expect(openDescriptors(bench.root)).toBe(before);
  });

  test("what nobody can be asked about goes when it is older than any call", () => {
    using bench = new FilesFixture(backend, { [`base/${elsewhere()}`]: "" });
    using folder = bench.jailed.admitFolder(".");
    const entries = runAtOnce(readEntries(folder));
    const scope = { mutations: new Mutations(), requester: undefined };
    const sweep = (minutes: number) =>
      sweepFolder(scope, { folder, entries, now: Date.now() + minutes * 60_000 });
    expect(sweep(119)).toBe(0);
    expect(sweep(121)).toBe(1);
    expect(bench.snapshot("base")).toEqual({});
  });

  test("a link with the name of a temporary file is left", async () => {
    using bench = new FilesFixture(backend, { [`base/${leftBehind()}`]: { link: "../outside/secret.txt" } });
    expect(await bench.files.sweep()).toBe(0);
  });
});
