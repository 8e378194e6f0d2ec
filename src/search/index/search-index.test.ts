import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { SearchIndex } from "./search-index.ts";

test("files for which no thread can start are left out of the index", async () => {
  using fixture = new JailFixture({ f: "text" });
  let runs = 0;
  const run = () => {
    runs++;
    throw new Error("no thread");
  };
  const pool = { run } as unknown as Parameters<typeof SearchIndex.open>[2];
  const index = SearchIndex.open({ mode: "verified", maxBytes: 2 ** 24 }, fixture.jail("openat"), pool)!;
  index.add({ names: "f\0", count: 1, firsts: [0], folders: [""] });
  index.resume(true);
  // A rejection without a handler would fail the test.
  await index.filled();
  index.close();
  expect([runs, index.files === 0]).toEqual([1, true]);
});
