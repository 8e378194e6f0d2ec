import { afterAll, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAtOnce } from "../base/scheduling/time-slice.ts";
import {
  compileRootGlobs,
  pathPatterns,
  patternsInRoot,
  renderAttributes,
  renderExcludes,
} from "./hidden-files.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("git finds the filter for each denied path below the folder, from every repository above it, and for no other", () => {
  const denied = [".env", "a/b/key", 'we "ird\\[x]*?', "line\nfeed"].map((path) => join(folder, path));
  const attributes = join(folder, "attributes");
  const patterns = runAtOnce(pathPatterns([...denied, "/etc/shadow", folder], folder));
  writeFileSync(attributes, runAtOnce(renderAttributes(patterns)));
  const filterOf = (repository: string, path: string) =>
    execFileSync("git", ["-c", `core.attributesFile=${attributes}`, "check-attr", "-z", "filter", path], {
      cwd: join(folder, repository),
      encoding: "utf8",
    }).split("\0")[2];
  for (const repository of [".", "a", "a/b"]) {
    mkdirSync(join(folder, repository), { recursive: true });
    execFileSync("git", ["init", "-q", join(folder, repository)]);
  }
  expect(denied.map((path) => filterOf(".", path.slice(folder.length + 1)))).toEqual(
    denied.map(() => "hidden-file"),
  );
  const excludes = join(folder, "excludes");
  writeFileSync(excludes, runAtOnce(renderExcludes(patterns)));
  const isIgnored = (path: string) =>
    spawnSync("git", ["-c", `core.excludesFile=${excludes}`, "check-ignore", "-q", path], { cwd: folder })
      .status === 0;
  // A name with a line feed cannot be written in such a file.
  expect(denied.map((path) => isIgnored(path.slice(folder.length + 1)))).toEqual([true, true, true, false]);
  expect(isIgnored("other")).toBe(false);
  expect(filterOf("a", "b/key")).toBe("hidden-file");
  expect(filterOf("a/b", "key")).toBe("hidden-file");
  expect(["other", "a/.env", "b/c/key", "we xird"].map((path) => filterOf(".", path))).toEqual(
    Array.from({ length: 4 }, () => "unspecified"),
  );
});

test("each root, glob, denied path and line is a step", () => {
  const count = <T>(steps: Generator<void, T, void>): [number, T] => {
    for (let number = 0; ; number++) {
      const { done, value } = steps.next();
      if (done) return [number, value];
    }
  };
  const [inGlobs, globs] = count(compileRootGlobs(["**/.env", "a*/key", "b/x", "{a,b/x"]));
  const roots = ["a", "b"].map((name) => ({ name, hostPath: `/srv/${name}` }));
  const all = [{ name: "top", hostPath: "/srv" }, ...roots];
  const denied = ["/srv/a/.env", "/srv/b/.env", "/other"];
  const [inRoot, patterns] = count(patternsInRoot(all[0]!, { globs, denied, roots: all }));
  expect(patterns).toEqual([
    ...["**/.env", "!/a/**", "/a/**/.env", "/a/key", "!/b/**", "/b/**/.env", "/b/x"],
    ...["/a/.env", "/.env", "/b/.env"],
  ]);
  const lines = [count(renderAttributes(patterns))[0], count(renderExcludes(patterns))[0]];
  // The paths of the two roots in the first one are steps, too.
  expect([inGlobs, inRoot, ...lines]).toEqual([4, 3 + 2 + 2, patterns.length, patterns.length]);
});
