/** Changes that raise no event, in searches by a watched tree. */
import { expect, test } from "bun:test";
import { appendFileSync, closeSync, linkSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { mapShared } from "../../watch/torture-writer.test-kit.ts";
import { pageFrom } from "../pages.test-kit.ts";
import { closing, openWatched } from "./watched.test-kit.ts";

test("a file that is open for writing, and one with a name outside of the tree, are read", async () => {
  const { at, find, settle, searcher } = await openWatched();
  const outside = `${at("")}-outside`;
  closing.push(() => rmSync(outside, { force: true }));
  writeFileSync(at("d/held"), "text");
  writeFileSync(outside, "text");
  linkSync(outside, at("d/linked"));
  const held = openSync(at("d/held"), "r+");
  writeFileSync(at("e/mapped"), "nothing");
  const mapping = mapShared(at("e/mapped"));
  await find();
  await settle();
  await searcher.index?.filled();
  await find();
  writeSync(held, "needle", 0);
  writeFileSync(outside, "needle");
  mapping.store(0x4e);
  expect(await find({ pattern: "needle", paths: false })).toEqual(["watched", "d/held", "d/linked"]);
  expect(await find({ pattern: "Nothing" })).toEqual(["watched", "e/mapped"]);
  closeSync(held);
  mapping.end();
});

test("no stamps are asked for: what no event says is seen with the next one", async () => {
  const { at, find } = await openWatched();
  const mapping = mapShared(at("d/file2"));
  mapping.store(0x4e);
  expect(await find({ pattern: "Next of" })).toEqual(["watched"]);
  mapping.end();
  expect(await find({ pattern: "Next of" })).toEqual(["watched", "d/file2"]);
});

test("what no event says is seen once its part of the files is scrubbed", async () => {
  const { at, find } = await openWatched({ scrubbedFiles: 5 });
  const outside = `${at("")}-outside`;
  closing.push(() => rmSync(outside, { force: true }));
  const mapping = mapShared(at("d/file2"));
  mapping.store(0x4e);
  linkSync(at("e/file9"), outside);
  appendFileSync(outside, "a needle");
  const seen = { stored: 0, linked: 0 };
  for (let search = 0; search < 4; search++) {
    seen.stored += (await find({ pattern: "Next of" })).length - 1;
    seen.linked += (await find()).length - 1;
  }
  // A new file makes a new list, which goes on in the same place.
  expect(seen.stored).toBeGreaterThan(0);
  expect(seen.linked).toBeGreaterThan(0);
  expect(await find({ pattern: "Next of" })).toEqual(["watched", "d/file2"]);
  expect(await find()).toEqual(["watched", "e/file9"]);
  mapping.end();
});

test("files are scrubbed in turn also where every other search is of a later page", async () => {
  const { at, find, search, searcher } = await openWatched({ scrubbedFiles: 10 });
  const { next_cursor } = await search({ pattern: "text of", maxMatches: 12, page: pageFrom(undefined) });
  // The later page lies behind both files, and gets one half of the list or the other to scrub.
  for (const file of ["file2", "file4"]) {
    const mapping = mapShared(at(`d/${file}`));
    mapping.store(0x4e);
    for (let round = 0; round < 2; round++) {
      await find({ pattern: "absent" });
      expect(await search({ page: pageFrom(next_cursor) })).toMatchObject({ index: "watched" });
    }
    expect(await find({ pattern: `Next of ${file.slice(0, 4)} ${file.slice(4)}` })).toEqual([
      "watched",
      `d/${file}`,
    ]);
    mapping.end();
    await searcher.index?.filled();
  }
});

test("a file that was found to have got a name outside of the tree is read from then on", async () => {
  const { at, find, searcher } = await openWatched();
  const outside = `${at("")}-outside`;
  closing.push(() => rmSync(outside, { force: true }));
  linkSync(at("d/file2"), outside);
  expect(await find({ pattern: "text of file 2" })).toEqual(["watched", "d/file2"]);
  await searcher.index?.filled();
  await find();
  appendFileSync(outside, "a needle");
  expect(await find()).toEqual(["watched", "d/file2"]);
});
