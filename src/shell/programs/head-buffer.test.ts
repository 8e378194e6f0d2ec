import { expect, test } from "bun:test";
import fc from "fast-check";
import { HeadBuffer } from "./head-buffer.ts";

const headOf = (limit: number, ...chunks: (string | number[])[]) => {
  const head = new HeadBuffer(limit);
  for (const chunk of chunks) head.add(Buffer.from(chunk as string));
  return head;
};

test("exactly the limit is not truncated, one more byte is", () => {
  const head = headOf(4, "ab", "cd");
  expect([head.render(), head.truncated]).toEqual(["abcd", false]);
  head.add(Buffer.from("e"));
  expect([head.render(), head.truncated]).toEqual(["abcd", true]);
});

test("a limit of 0 keeps nothing", () => {
  expect(headOf(0).truncated).toBe(false);
  expect([headOf(0, "a").render(), headOf(0, "a").truncated]).toEqual(["", true]);
});

test("what is not UTF-8 becomes U+FFFD, and a byte order mark stays", () => {
  expect(headOf(9, [0xff, 0xfe, 0x61]).render()).toBe("\ufffd\ufffda");
  expect(headOf(9, [0xef, 0xbb, 0xbf, 0x61]).render()).toBe("\ufeffa");
});

test("a character cut at the limit becomes one U+FFFD, one cut between chunks stays whole", () => {
  expect(headOf(3, "🎈").render()).toBe("\ufffd");
  expect(headOf(9, [0xf0, 0x9f], [0x8e, 0x88]).render()).toBe("🎈");
});

test("however it is cut into chunks, the head is the same", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), fc.nat(64), (chunks, limit) => {
      const all = Buffer.concat(chunks);
      const head = new HeadBuffer(limit);
      for (const chunk of chunks) head.add(Buffer.from(chunk));
      expect(head.truncated).toBe(all.length > limit);
      expect(head.render()).toBe(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(all.subarray(0, limit)),
      );
    }),
  );
});

test("a line at the end takes the place of the last bytes", () => {
  const after = (limit: number, text: string) => {
    const head = headOf(limit, text);
    head.endWith("END");
    return [head.render(), head.truncated];
  };
  expect(after(9, "")).toEqual(["END\n", false]);
  expect(after(9, "abc\n")).toEqual(["abc\nEND\n", false]);
  expect(after(8, "abc")).toEqual(["abc\nEND\n", false]);
  expect(after(7, "abc")).toEqual(["ab\nEND\n", true]);
  expect(after(9, "abcdefghijk")).toEqual(["abcd\nEND\n", true]);
  expect(after(2, "abc")).toEqual(["\nE", true]);
});
