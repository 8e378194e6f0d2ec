import { expect, test } from "bun:test";
import type { IgnoreFile } from "./ignore-file.ts";
import { IgnoreFileCache } from "./ignore-file-cache.ts";

const name = (text: string) => ({ bytes: Buffer.from(text), from: 0, to: Buffer.byteLength(text) });

test("the same text is compiled once, and another one is another", () => {
  const cache = new IgnoreFileCache();
  const first = cache.compile(Buffer.from("a\n"), 1000);
  expect(cache.compile(Buffer.from("a\n"), 1000)).toBe(first);
  const other = cache.compile(Buffer.from("!a\n"), 1000);
  const match = (file: IgnoreFile | undefined) => file?.match(file.trailFrom(0), "", name("a"), false);
  expect([match(first), match(other)]).toEqual(["ignore", "include"]);
});

test("text that costs too much is refused, also when it was compiled before", () => {
  const cache = new IgnoreFileCache();
  const text = Buffer.from("*a\n");
  expect(cache.compile(text, text.length + 38)).toBeUndefined();
  expect(cache.compile(text, text.length + 39)).toBeDefined();
  expect(cache.compile(text, text.length + 38)).toBeUndefined();
});

test("each line costs the states of its rule, however short it is", () => {
  const [cache, maxCost] = [new IgnoreFileCache(), 128 * 1024];
  expect(cache.compile(Buffer.from("a\n".repeat(65_500)), maxCost)).toBeUndefined();
  expect(cache.compile(Buffer.from("src/a/b.ts\n".repeat(6000)), maxCost)).toBeDefined();
});

test("texts used last are kept, up to a number of bytes", () => {
  const cache = new IgnoreFileCache(200_000);
  const often = Buffer.from("often\n");
  const first = cache.compile(often, 1000);
  for (let i = 0; i < 1000; i++) {
    cache.compile(Buffer.from(`name-${i}\n`), 1000);
    expect(cache.compile(often, 1000)).toBe(first);
  }
  expect(cache.size).toBeGreaterThan(5);
  expect(cache.size).toBeLessThan(500);
});
