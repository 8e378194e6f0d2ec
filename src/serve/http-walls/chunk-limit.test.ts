import { expect, test } from "bun:test";
import { ChunkLimit, TooManyChunks } from "./chunk-limit.ts";

const add = (limit: ChunkLimit, count: number, bytes: number) => {
  for (let chunk = 0; chunk < count; chunk++) limit.add(Buffer.alloc(bytes));
};

test("a body may have 1024 chunks of any size, and more if they have 1024 bytes on average", () => {
  const small = new ChunkLimit();
  add(small, 1024, 1);
  expect(() => add(small, 1, 1)).toThrow(TooManyChunks);
  const large = new ChunkLimit();
  add(large, 10_000, 1024);
  expect(() => add(large, 1, 1023)).toThrow(TooManyChunks);
  const mixed = new ChunkLimit();
  add(mixed, 1, 1024 * 1024);
  add(mixed, 1023, 1);
  expect(() => add(mixed, 1, 1)).not.toThrow();
  expect(() => add(mixed, 10, 1)).toThrow(TooManyChunks);
});
