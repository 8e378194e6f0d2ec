import { afterAll, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathPatterns, renderAttributes, renderExcludes } from "./hidden-files.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("git finds the filter for each denied path below the folder, from every repository above it, and for no other", () => {
  const denied = [".env", "a/b/key", 'we "ird\\[x]*?', "line\nfeed"].map((path) => join(folder, path));
  const attributes = join(folder, "attributes");
  const patterns = pathPatterns([...denied, "/etc/shadow", folder], folder);
  writeFileSync(attributes, renderAttributes(patterns));
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
  writeFileSync(excludes, renderExcludes(patterns));
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
