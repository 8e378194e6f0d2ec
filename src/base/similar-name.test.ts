import { expect, test } from "bun:test";
import { maxSimilar } from "./similar-name.ts";

test.each([
  ["serch", ["search", "tree"], "search"],
  ["searchfiles", ["tree", "search"], "search"],
  ["b", ["a"], undefined],
  ["copy", ["move", "tree"], undefined],
  ["x".repeat(100), ["search"], undefined],
])("%s among %j is %s", (name, names, meant) => {
  expect(maxSimilar(name, names)).toBe(meant);
});
