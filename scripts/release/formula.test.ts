import { expect, test } from "bun:test";
import { workerNames } from "../../src/base/about.ts";
import type { Artefact } from "./artefact.ts";
import { releaseUrl, renderFormula } from "./formula.ts";
import { targets } from "./targets.ts";

const artefacts: readonly Artefact[] = targets.flatMap((target) =>
  workerNames.map((worker) => ({
    worker,
    target,
    archive: `/somewhere/${worker}-${target.triple}.tar.gz`,
    digest: `digest of ${worker} for ${target.triple}`,
    archiveBytes: 1,
    executableBytes: 1,
    programBytes: 1,
  })),
);

test("the formula names the archive of coder for each machine of Homebrew, with its digest", () => {
  const named = [
    ...(renderFormula(artefacts) ?? "").matchAll(
      /on_(arm|intel) do\n {6}url "(.*)"\n {6}sha256 "(.*)"\n {4}end/g,
    ),
  ];
  const expected = [
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-gnu",
  ];
  expect(named.map(([, ...fields]) => fields)).toEqual(
    expected.map((triple) => [
      triple.startsWith("aarch64") ? "arm" : "intel",
      releaseUrl(`coder-${triple}.tar.gz`),
      `digest of coder for ${triple}`,
    ]),
  );
});

test("a release that lacks one of these machines has no formula", () => {
  expect(renderFormula(artefacts.filter(({ target }) => !target.triple.includes("darwin")))).toBeUndefined();
});
