import { expect, test } from "bun:test";
import { JailFixture } from "./jail.test-kit.ts";
import { pathDependencies } from "./path-dependencies.ts";

const tree = {
  "real/f": "",
  "real/d/up": { link: "../../link" },
  link: { link: "real" },
  out: { link: "../outside" },
  dangling: { link: "gone/deep" },
  around: { link: "real/d/../f" },
};

test.each([
  ["real/f", ["real/f"]],
  ["./real//f/", ["real/f"]],
  [".", [""]],
  // A call may need a folder that an earlier one makes.
  ["missing/f", ["missing", "missing/f"]],
  ["real/d/new/deep/f", ["real/d/new", "real/d/new/deep/f"]],
  ["README.md", ["README.md", "readme.md"]],
  // A `..` may step back from a link, now or later.
  ["real/../x", ["real", "x"]],
  // A path through a link depends on everything in the link's target, which may be removed and created again.
  ["link", ["link", "real"]],
  ["link/f", ["link/f", "real", "real/f"]],
  ["link/new/deep", ["link/new/deep", "real", "real/new", "real/new/deep"]],
  ["real/d/up/f", ["real/d/up/f", "link", "link/f", "real", "real/f"]],
  ["link/../x", ["link", "real", "x"]],
  ["around", ["around", "real/d", "real/f"]],
  // So does one that leads nowhere at present.
  ["dangling/f", ["dangling/f", "gone/deep", "gone/deep/f"]],
  ["real/f/below", ["real/f/below"]],
  // These lead nowhere, whatever the tree contains.
  ["out/secret.txt", ["out/secret.txt", "outside", "outside/secret.txt"]],
  ["../x", ["x"]],
  ["", []],
])("%p depends on %p", (path, paths) => {
  using fixture = new JailFixture(tree);
  for (const backend of ["descriptors", "openat"] as const)
    expect([...pathDependencies(path, fixture.jail(backend))].sort()).toEqual([...paths].sort());
});

test("an existing path without links takes one step", () => {
  using fixture = new JailFixture(tree);
  const jail = fixture.jail("openat");
  const walked: string[] = [];
  const admit: typeof jail.admit = (path, options) => {
    walked.push(path);
    return jail.admit(path, options);
  };
  const counted = { ...jail, admit };
  for (const path of ["real/f", "./real//f", "real/d"]) pathDependencies(path, counted);
  expect(walked).toEqual([]);
  for (const path of ["link/f", "real/d/up", "real/../real/f", "missing"]) pathDependencies(path, counted);
  expect(walked).toEqual(["link/f", "real/d/up", "real/../real/f", "missing"]);
});
