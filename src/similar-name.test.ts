import { expect, test } from "bun:test";
import { mostSimilar } from "./similar-name.ts";

test.each([
  ["serch", ["search", "tree"], "search"],
  ["searchfiles", ["tree", "search"], "search"],
  ["b", ["a"], undefined],
  ["copy", ["move", "tree"], undefined],
  ["x".repeat(100), ["search"], undefined],
])("%s among %j is %s", (name, names, meant) => {
  expect(mostSimilar(name, names)).toBe(meant);
});
