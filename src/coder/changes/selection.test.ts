import { expect, test } from "bun:test";
import type { FeedChange } from "../../filesystem/feed/change.ts";
import { parseGlobFields } from "../fields/request-globs.ts";
import { profileOf } from "../profiles.ts";
import { selects } from "./selection.ts";

const changeAt = (path: string, isFolder = false, from?: string) =>
  ({ path, isFolder, from, kind: "modified", isGap: false }) as unknown as FeedChange;

test.each([
  ["contract", ["*.ts"], ["d/b.ts"]],
  ["agent", ["*.ts"], ["a.ts"]],
] as const)("in the profile %s the globs are of its dialect", (profile, include_globs, expected) => {
  const globs = { include_globs, exclude_globs: profile === "agent" ? ["d"] : ["a.ts"] };
  const selection = { path: "", kinds: undefined, ...parseGlobFields(globs, profileOf(profile)) };
  const selected = ["a.ts", "b.md", "d/b.ts"].filter((path) => selects(selection, changeAt(path)));
  expect(selected).toEqual([...expected]);
});

test("what was moved is selected by either path, and a folder by what it may hold", () => {
  const globs = { include_globs: ["*.ts"], exclude_globs: ["d/"] };
  const selection = { path: "", kinds: undefined, ...parseGlobFields(globs, profileOf("agent")) };
  expect(selects(selection, changeAt("b.md", false, "a.ts"))).toBe(true);
  expect(selects(selection, changeAt("b.md", false, "d/a.ts"))).toBe(false);
  expect(selects(selection, changeAt("e", true))).toBe(true);
  expect(selects(selection, changeAt("d/e", true))).toBe(false);
  expect(selects(selection, changeAt(".", true))).toBe(true);
});
