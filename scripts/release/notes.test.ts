import { expect, test } from "bun:test";
import { workerNames } from "../../src/base/about.ts";
import type { Artefact } from "./artefact.ts";
import { renderNotes } from "./notes.ts";
import { targets } from "./targets.ts";

const chosen = targets.slice(0, 2);

const artefacts: readonly Artefact[] = chosen.flatMap((target, index) =>
  workerNames.map((worker) => ({
    worker,
    target,
    archive: `/somewhere/${worker}-${target.triple}.tar.gz`,
    digest: `${worker}${index}`,
    archiveBytes: 55_940_000,
    executableBytes: 120_000_000,
    programBytes: 15_000_000,
  })),
);

const [one = "", other = ""] = chosen.map(({ triple }) => triple);

/** Returns the cells of the line about a target. */
const cells = (notes: string, triple: string) =>
  notes
    .split("\n")
    .find((line) => line.startsWith(`| \`${triple}\``))
    ?.split(" | ");

test("a target has one line for both workers: sizes, sameness, trial and start", () => {
  const trials = new Map([
    [one, { verdict: "passed", isReproduced: true, startMilliseconds: 11.4 }],
    [other, { verdict: "**shell failed**", isReproduced: false, startMilliseconds: 900, isEmulated: true }],
  ]);
  const notes = renderNotes(artefacts, trials);
  const sizes = ["120.0 MB", "15.0 MB (13 %)", "55.9 MB"];
  expect(cells(notes, one)?.slice(1, -1)).toEqual([...sizes, "yes", "passed", "11 ms"]);
  expect(cells(notes, other)?.slice(1, -1)).toEqual([...sizes, "**no**", "**shell failed**", "(900 ms)"]);
  expect(notes).not.toContain("Not run:");
  expect(notes).toContain(`\nshell1  shell-${other}.tar.gz\n`);
});

test("what was not run has its reason below the table, and the rest no reason", () => {
  const trials = new Map([
    [one, { verdict: "read, not run", because: "there is no Mac to run it on" }],
    [other, { verdict: "passed" }],
  ]);
  expect(renderNotes(artefacts, trials)).toContain(
    `\nNot run:\n\n- \`${one}\`: there is no Mac to run it on\n\nSHA-256`,
  );
});

test("a release that was only made says that it was not tried", () => {
  expect(cells(renderNotes(artefacts), one)?.slice(4, 7)).toEqual(["not tried", "no", ""]);
});
