/**
 * The base folder is removed, moved or replaced while the worker runs, which keeps to the folder that it
 * started with.
 */

import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  codesOf,
  type DriverFixture,
  type DriverOutcome,
  outcomeFaults,
  withDriver,
} from "./driver-fixture.ts";

const calls: readonly (readonly [functionId: string, payload: unknown])[] = [
  ["coder::read-file", { path: "a.txt" }],
  ["coder::list-folder", {}],
  ["coder::tree", {}],
  ["coder::search", { query: "text" }],
  ["coder::update-file", { files: [{ path: "a.txt", ops: [{ op: "insert", at_line: 1, content: "x" }] }] }],
  ["coder::create-file", { files: [{ path: "new/b.txt", content: "new" }] }],
  ["coder::create-file", { files: [{ path: "a.txt", content: "new", overwrite: true }] }],
  ["coder::delete-file", { paths: ["a.txt"] }],
  ["coder::delete-file", { paths: ["d"], recursive: true }],
];

const changes = calls.filter(([id]) => !/read|list|tree|search/.test(id));

/** Further calls that change something. */
const more: typeof calls = [
  ["coder::move", { files: [{ from: "a.txt", to: "moved.txt" }] }],
  ["coder::copy", { files: [{ from: "a.txt", to: "copied.txt" }] }],
  ["coder::make-folder", { paths: ["made"] }],
  ["coder::transact", { changes: [{ op: "create", path: "b.txt", content: "b" }] }],
];

const tree = {
  "a.txt": "text\n",
  "d/b.txt": "text\n",
  "../decoy/a.txt": "decoy\n",
  "../decoy/d/b.txt": "decoy\n",
};

/** Expects every call to fail with C216 and to change nothing in or beside the base. */
async function expectGone(driven: DriverFixture): Promise<void> {
  const before = listing(driven.root);
  for (const [functionId, payload] of calls) {
    const outcome = await driven.call(functionId, payload);
    expect({ functionId, codes: codesOf(outcome) }).toEqual({ functionId, codes: ["C216"] });
    expect(JSON.stringify(outcome)).toContain("base folder is gone");
    expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  }
  expect(listing(driven.root)).toBe(before);
}

const listing = (folder: string): string => execFileSync("ls", ["-lR", folder], { encoding: "utf8" });

describe.each(["openat", "descriptors", "current-directory"])("%s", (backend) => {
  const on = (act: (driven: DriverFixture) => Promise<void>) => () =>
    withDriver({ tree, env: { CODER_JAIL: backend } }, act);

  test(
    "a base that was deleted is gone for good, whatever is put in its place",
    on(async (driven) => {
      rmSync(driven.base, { recursive: true });
      await expectGone(driven);
      mkdirSync(driven.base);
      writeFileSync(join(driven.base, "a.txt"), "another");
      await expectGone(driven);
    }),
  );

  test(
    "a base that was moved is read where it is now, or not at all, and never changed there",
    on(async (driven) => {
      const moved = join(driven.root, "moved");
      renameSync(driven.base, moved);
      const read = await readText(driven);
      if (backend === "current-directory") expect(codesOf(read)).toEqual(["C216"]);
      else expect(read.answer).toMatchObject({ content: "text\n" });
      await expectUnchanged(driven, moved);

      renameSync(moved, driven.base);
      expect((await readText(driven)).answer).toMatchObject({ content: "text\n" });
      const { answer } = await driven.call("coder::create-file", {
        files: [{ path: "b.txt", content: "b" }],
      });
      expect(answer).toMatchObject({ results: [{ success: true }] });
    }),
  );

  test(
    "a base that was moved away and made again: neither is changed",
    on(async (driven) => {
      renameSync(driven.base, join(driven.root, "backup"));
      mkdirSync(driven.base);
      writeFileSync(join(driven.base, "a.txt"), "new\n");
      await expectUnchanged(driven, driven.root);
    }),
  );

  test.each(["folder", "link"])("another %s in the place of the base is never used", (kind) =>
    on(async (driven) => {
      renameSync(driven.base, join(driven.root, "moved"));
      if (kind === "link") symlinkSync("decoy", driven.base);
      else renameSync(join(driven.root, "decoy"), driven.base);
      for (const [functionId, payload] of calls) {
        const outcome = await driven.call(functionId, payload);
        expect(JSON.stringify(outcome)).not.toContain("decoy");
        expect(codesOf(outcome).filter((code) => code !== "" && code !== "C216" && code !== "C211")).toEqual(
          [],
        );
      }
      const decoy = kind === "link" ? "../decoy" : "";
      expect(driven.snapshot().get(join(decoy, "a.txt"))?.content).toBe("decoy\n");
      expect(driven.snapshot().get(join(decoy, "d/b.txt"))?.content).toBe("decoy\n");
    })(),
  );

  /** Expects every call that changes something to fail with C216, and nothing in the folder to change. */
  async function expectUnchanged(driven: DriverFixture, folder: string): Promise<void> {
    const before = listing(folder);
    for (const [functionId, payload] of [...changes, ...more]) {
      const outcome = await driven.call(functionId, payload);
      expect({ functionId, codes: codesOf(outcome) }).toEqual({ functionId, codes: ["C216"] });
      expect(JSON.stringify(outcome)).toContain("base folder is gone");
    }
    expect(listing(folder)).toBe(before);
  }
});

const readText = (driven: DriverFixture): Promise<DriverOutcome> =>
  driven.call("coder::read-file", { path: "a.txt" });
