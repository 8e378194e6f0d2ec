import { expect, test } from "bun:test";
import { exactNaming, hasExactNames, type Naming, namingIn, namingOfBase } from "./name-comparison.ts";

const plain = { isCasefolded: () => false };
const [btrfs, nfs, vfat] = [0x9123683e, 0x6969, 0x4d44];

test.each([
  [btrfs, "exact"],
  [nfs, "folded"],
  [vfat, "foreign"],
  [0x65735546, "foreign"], // fuse
  [0x12345678, "foreign"], // unknown
] as const)("names in a file system of type %p are %s", (type, folding) => {
  expect(namingIn(exactNaming, { type, ...plain }).folding).toBe(folding);
});

test("below a folder that folds all paths are folded", () => {
  const onFat = namingIn(exactNaming, { type: vfat, ...plain });
  expect(namingIn(onFat, { type: undefined, ...plain }).folding).toBe("foreign");
  expect(namingIn(onFat, { type: btrfs, ...plain }).folding).toBe("foreign");
  expect(namingIn(namingIn(exactNaming, { type: nfs, ...plain }), { type: vfat, ...plain }).folding).toBe(
    "foreign",
  );
});

test("a folder is asked for its flag where it may have one, and only there", () => {
  const flagged: Naming = { folding: "exact", isFlagged: true };
  const isCasefolded = () => true;
  expect(namingIn(flagged, { type: undefined, isCasefolded })).toEqual({
    folding: "folded",
    isFlagged: true,
  });
  expect(namingIn(flagged, { type: undefined, ...plain })).toEqual(flagged);
  expect(namingIn(exactNaming, { type: undefined, isCasefolded })).toEqual(exactNaming);
});

test("a trial of the base, and not its kind, decides where the whole file system folds or does not", () => {
  expect(namingOfBase({ type: nfs, ...plain })).toEqual(exactNaming);
  expect(namingOfBase({ type: vfat, ...plain }).folding).toBe("foreign");
  expect([btrfs, nfs, vfat, 0].map(hasExactNames)).toEqual([true, false, false, false]);
});
