import { expect, test } from "bun:test";
import { ScratchBuffer } from "./scratch-buffer.ts";

test("two rooms in use are never one, and the memory of one that was is used again", () => {
  const first = new ScratchBuffer();
  const memory = first.reserve(100_000);
  expect(first.reserve(50_000)).toBe(memory);
  const second = new ScratchBuffer();
  expect(second.reserve(10).buffer).not.toBe(memory.buffer);
  second[Symbol.dispose]();
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  const [third, fourth] = [new ScratchBuffer(), new ScratchBuffer()];
  expect(third.reserve(100_000)).toBe(memory);
  expect(fourth.reserve(100_000)).not.toBe(memory);
});

test("a room grows to what is asked for, and much is not kept", () => {
  const room = new ScratchBuffer();
  expect(room.reserve(10).length).toBeGreaterThanOrEqual(10);
  const large = room.reserve(17 * 1024 * 1024);
  expect(large.length).toBeGreaterThanOrEqual(17 * 1024 * 1024);
  room[Symbol.dispose]();
  expect(new ScratchBuffer().reserve(17 * 1024 * 1024)).not.toBe(large);
});
