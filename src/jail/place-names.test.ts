import { expect, test } from "bun:test";
import { JailFixture } from "./jail.test-kit.ts";
import { placeNames } from "./place-names.ts";

const tree = { "real/f": "", link: { link: "real" }, out: { link: "../outside" } };

test.each([
  ["real/f", ["real/f"]],
  ["./real//f/", ["real/f"]],
  [".", [""]],
  ["link/f", ["link/f", "real/f"]],
  ["link", ["link", "real"]],
  ["link/new/deep", ["link/new/deep", "real/new/deep"]],
  ["missing/f", ["missing/f"]],
  // Paths that lead nowhere are refused later, by the call.
  ["out/secret.txt", ["out/secret.txt"]],
  ["../x", ["../x"]],
  ["", [""]],
])("%p is known as %p", (path, names) => {
  using fixture = new JailFixture(tree);
  expect(placeNames(path, fixture.jail("descriptors"))).toEqual(names);
});
