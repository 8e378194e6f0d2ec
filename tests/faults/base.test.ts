/** The base folder goes away or changes places while the worker runs: it keeps to the folder it was started with. */

import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

const tree = {
  "a.txt": "text\n",
  "d/b.txt": "text\n",
  "../decoy/a.txt": "decoy\n",
  "../decoy/d/b.txt": "decoy\n",
};

/** Every call is answered with C216, and nothing outside the base is touched. */
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
    "a base that was moved is served where it is now, or not at all",
    on(async (driven) => {
      renameSync(driven.base, join(driven.root, "moved"));
      await expectOnlyOurs(driven, await readText(driven));
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

  /** Descriptors go with the folder; the current directory can only be found by its path. */
  async function expectOnlyOurs(driven: DriverFixture, outcome: DriverOutcome): Promise<void> {
    if (backend === "current-directory") return expectGone(driven);
    expect(outcome.answer).toMatchObject({ content: "text\n" });
    const { answer } = await driven.call("coder::create-file", { files: [{ path: "b.txt", content: "b" }] });
    expect(answer).toMatchObject({ results: [{ success: true }] });
    expect(readFileSync(join(driven.root, "moved/b.txt"), "utf8")).toBe("b");
  }
});

const readText = (driven: DriverFixture): Promise<DriverOutcome> =>
  driven.call("coder::read-file", { path: "a.txt" });
