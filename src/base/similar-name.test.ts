import { expect, test } from "bun:test";
import { maxSimilar, misspelt } from "./similar-name.ts";

test.each([
  ["serch", ["search", "tree"], "search"],
  ["searchfiles", ["tree", "search"], "search"],
  ["b", ["a"], undefined],
  ["mpc", ["setup", "mcp", "call"], "mcp"],
  ["setpu", ["mcp", "setup", "call"], "setup"],
  ["copy", ["move", "tree"], undefined],
  ["x".repeat(100), ["search"], undefined],
])("%s among %j is %s", (name, names, meant) => {
  expect(maxSimilar(name, names)).toBe(meant);
});

test.each([
  ["base_pth", "base_path"],
  ["bsae_path", "base_path"],
  ["base_pathh", "base_path"],
  ["base_bath", "base_path"],
  ["base_path", undefined],
  ["bas_pth", undefined],
  ["sf", undefined],
  ["", undefined],
])("%s is one typo away from %s", (name, meant) => {
  expect(misspelt(name, ["fs", "base_path"])).toBe(meant);
});
