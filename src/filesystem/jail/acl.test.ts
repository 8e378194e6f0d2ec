import { expect, test } from "bun:test";
import { listWithin, modeWithout } from "./acl.ts";

const everyone = 0xffffffff;

/**
 * Builds a list from entries of tag, permissions and number. Tags: 1 the owner, 2 a user, 4 the owning group,
 * 8 a group, 16 the mask, 32 others.
 */
function list(...entries: (readonly [tag: number, permissions: number, id?: number])[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * entries.length);
  bytes.writeUInt32LE(2, 0);
  for (const [i, [tag, permissions, id = everyone]] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + 8 * i);
    bytes.writeUInt16LE(permissions, 6 + 8 * i);
    bytes.writeUInt32LE(id, 8 + 8 * i);
  }
  return bytes;
}

const closed = list([1, 6], [2, 6, 1001], [4, 0], [16, 6], [32, 0]);

test("the mode of a file becomes that of its list: owner, mask and others", () => {
  expect(listWithin(closed, { mode: 0o660, isOfOtherGroup: false })).toEqual(closed);
  expect(listWithin(closed, { mode: 0o514, isOfOtherGroup: false })).toEqual(
    list([1, 5], [2, 6, 1001], [4, 0], [16, 1], [32, 4]),
  );
});

test("another group gets no more than all others, and who is named keeps what they have", () => {
  const open = list([1, 6], [2, 4, 1001], [4, 6], [8, 6, 2000], [16, 6], [32, 4]);
  expect(listWithin(open, { mode: 0o664, isOfOtherGroup: true })).toEqual(
    list([1, 6], [2, 4, 1001], [4, 4], [8, 6, 2000], [16, 6], [32, 4]),
  );
});

test.each([
  // The mask is not the group's permission.
  [closed, 0o660, false, 0o600],
  [list([1, 6], [2, 6, 1001], [4, 4], [16, 6], [32, 4]), 0o664, false, 0o644],
  [list([1, 6], [2, 6, 1001], [4, 6], [16, 4], [32, 0]), 0o640, false, 0o640],
  // A user who was shut out by name now counts among all others.
  [list([1, 6], [2, 0, 1001], [4, 6], [16, 6], [32, 4]), 0o664, false, 0o600],
  [list([1, 7], [4, 7], [8, 5, 2000], [16, 7], [32, 7]), 0o777, false, 0o755],
  [list([1, 6], [2, 6, 1001], [4, 6], [16, 6], [32, 4]), 0o664, true, 0o644],
])("%p in place of mode %o, of another group: %p", (given, mode, isOfOtherGroup, expected) => {
  expect(modeWithout(given, { mode, isOfOtherGroup })).toBe(expected);
});
