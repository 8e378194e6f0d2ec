import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { ripgrep } from "../ignore/ripgrep.test-kit.ts";
import { fileTypeGlobs, table, UnknownFileType } from "./file-types.ts";

test("the table is what ripgrep prints", () => {
  expect(table.trim()).toBe(spawnSync(ripgrep, ["--type-list"]).stdout.toString().trim());
});

test("every type compiles, and all of them together", () => {
  const types = table
    .trim()
    .split("\n")
    .map((row) => row.slice(0, row.indexOf(":")));
  for (const type of types) expect(fileTypeGlobs([type])?.size).toBeGreaterThan(0);
  expect(fileTypeGlobs(types)?.matches("a.rs")).toBe(true);
});

test("an unknown type is named", () => {
  expect(() => fileTypeGlobs(["py", "nope"])).toThrow(new UnknownFileType("nope"));
});
