import { describe, expect, test } from "bun:test";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { FilesFixture } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { Mutations } from "./mutations.ts";
import { commitFile, type WrittenFile } from "./place.ts";
import { type PendingFile, writeAtomically } from "./write.ts";

describe.each(backends)("%s", (backend) => {
  const draftIn = (bench: FilesFixture): PendingFile => ({
    folder: bench.jailed.admitFolder("."),
    content: [Buffer.from("new")],
    mode: 0o600,
    fsync: false,
  });

  test("until it is published only a hidden file is there, and after a failure nothing", async () => {
    using bench = new FilesFixture(backend);
    const failing = writeAtomically(draftIn(bench), bench.deadline, ({ temporary }) => {
      expect(readdirSync(bench.base)).toEqual([temporary]);
      expect(bench.jailed.isTemporary(temporary)).toBe(true);
      throw new Error("not now");
    });
    expect(failing).rejects.toThrow("not now");
    await failing.catch(() => {});
    expect(readdirSync(bench.base)).toEqual([]);
  });

  test("a large file that is to be hashed has its revision before its name", async () => {
    using bench = new FilesFixture(backend);
    const large = new Uint8Array(4 * 1024 * 1024);
    for (const [content, isHashed, revision] of [
      [large, true, revisionOfBytes([large])],
      [large, false, undefined],
      [large.subarray(1), true, undefined],
    ] as const) {
      const draft = { ...draftIn(bench), content: [content], isHashed };
      let written: WrittenFile | undefined;
      await writeAtomically(draft, bench.deadline, (file) => {
        written = file;
      });
      expect(written!.revision).toBe(revision);
    }
  });

  test("a temporary file that someone replaced is not published", async () => {
    using bench = new FilesFixture(backend, {}, { fsync: true });
    const draft = { ...draftIn(bench), fsync: true };
    const scope = { mutations: new Mutations(), requester: undefined };
    const target = { folder: draft.folder, name: "a", isReplacing: false };
    const writing = writeAtomically(draft, bench.deadline, (written) => commitFile(scope, written, target));
    // The flush runs in the background, while the file has its temporary name.
    const [temporary] = readdirSync(bench.base);
    rmSync(bench.at(temporary!));
    writeFileSync(bench.at(temporary!), "planted");
    expect(writing).rejects.toThrow("ESTALE");
    await writing.catch(() => {});
    expect(readdirSync(bench.base)).toEqual([]);
  });

  test("a folder that was moved away during the write is not missed for another", async () => {
    using bench = new FilesFixture(backend, { "d/": null });
    const draft = { ...draftIn(bench), folder: bench.jailed.admitFolder("d"), fsync: true };
    const writing = writeAtomically(draft, bench.deadline, ({ at, temporary }) =>
      renameSync(at(temporary), at("a")),
    );
    renameSync(bench.at("d"), bench.at("moved"));
    bench.add({ "d/": null });
    const outcome = await writing.then(
      () => "written",
      (error) => error.code,
    );
    expect(readdirSync(bench.at("d"))).toEqual([]);
    expect(outcome).toBe(backend === "current-directory" ? "ENOENT" : "written");
    if (outcome === "written") expect(bench.text("moved/a")).toBe("new");
  });
});
