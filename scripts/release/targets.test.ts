import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { about, descriptions, type WorkerName, workerNames } from "../../src/base/about.ts";
import { root } from "../build.ts";
import { lockedPackage } from "./packages.ts";
import { chooseTargets, targets } from "./targets.ts";

/** The folder of each worker that the publishing pipeline reads. */
const manifests: Readonly<Record<WorkerName, string>> = { coder: ".", shell: "shell" };

test.each(workerNames)("the iii.worker.yaml of %s says what the sources say", (worker) => {
  const folder = join(root, manifests[worker]);
  const said = parse(readFileSync(join(folder, "iii.worker.yaml"), "utf8"));
  expect(said).toMatchObject({ iii: "v1", name: worker, bin: worker, deploy: "binary", language: "node" });
  expect(said.description).toBe(descriptions[worker]);
  expect(said.targets).toEqual(targets.map(({ triple }) => triple));
  expect(JSON.parse(readFileSync(join(folder, said.manifest), "utf8")).version).toBe(about.version);
});

test("docs/install.md has a line for each target and none else", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  const lines = [...page.matchAll(/^\| `coder-([^`]+)` \|/gm)].map(([, triple]) => triple);
  expect(lines).toEqual(targets.map(({ triple }) => triple));
});

test("the lock pins every runtime, and each bun is the one that builds", () => {
  for (const { runtime } of targets) {
    const { version, integrity } = lockedPackage(runtime.package);
    expect(integrity).toStartWith("sha512-");
    expect(version).toBe(runtime.compileTarget === undefined ? "20.11.0" : Bun.version);
  }
});

test("a list of targets is taken in its order, and a name that is none is refused", () => {
  const chosen = chooseTargets("aarch64-apple-darwin,x86_64-apple-darwin");
  expect(chosen.map(({ triple }) => triple)).toEqual(["aarch64-apple-darwin", "x86_64-apple-darwin"]);
  expect(() => chooseTargets("sparc-sun-solaris")).toThrow("they are x86_64-apple-darwin, ");
});
