/** Changes that raise no event, in searches by a watched tree. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mapShared } from "../../filesystem/watch/torture-writer.test-kit.ts";
import { pageFrom } from "../pages.test-kit.ts";
import { openSearcher } from "../search.test-kit.ts";
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
  // A new file causes a new list, which continues in the same place.
  expect(seen.stored).toBeGreaterThan(0);
  expect(seen.linked).toBeGreaterThan(0);
  expect(await find({ pattern: "Next of" })).toEqual(["watched", "d/file2"]);
  expect(await find()).toEqual(["watched", "e/file9"]);
  mapping.end();
});

test("the result in a file that matches is kept for the query until an event, or until it is scrubbed", async () => {
  const { at, find } = await openWatched();
  const scrubbing = await openWatched({ scrubbedFiles: 20 });
  const request = { pattern: "text of file 2", paths: false };
  for (const one of [find, scrubbing.find]) expect(await one(request)).toEqual(["watched", "d/file2"]);
  const mappings = [at, scrubbing.at].map((of) => mapShared(of("d/file2")));
  for (const mapping of mappings) mapping.store(0x4e);
  expect(await find(request)).toEqual(["watched", "d/file2"]);
  expect(await scrubbing.find(request)).toEqual(["watched"]);
  expect(await find({ ...request, linesAfter: 1 })).toEqual(["watched"]);
  appendFileSync(at("d/file2"), "more");
  expect(await find(request)).toEqual(["watched"]);
  for (const mapping of mappings) mapping.end();
});

test("files are scrubbed in turn also where every other search is of a later page", async () => {
  const { at, find, search, searcher } = await openWatched({ scrubbedFiles: 10 });
  const { next_cursor } = await search({ pattern: "text of", maxMatches: 12, page: pageFrom(undefined) });
  // The later page starts after both files. It scrubs one half of the list or the other.
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

/** O_PATH and O_TMPFILE of open(2), which node:fs does not name. */
const [pathOnly, unnamed] = [0o10000000, 0o20000000 | constants.O_DIRECTORY];

/** Ways for a program to keep a file of the tree by a name that no watch covers, and to write to it later. */
const keptBy: Readonly<Record<string, (outside: string, inside: string) => number>> = {
  "a descriptor for reading": (outside, inside) => keptWith(constants.O_RDONLY, outside, inside),
  "a descriptor for its path": (outside, inside) => keptWith(pathOnly, outside, inside),
  "a descriptor of a file that was made without a name": (outside, inside) => {
    const made = openSync(dirname(outside), unnamed | constants.O_RDWR, 0o600);
    writeSync(made, "nothing");
    // ln -L follows the link of procfs to the file itself.
    spawnSync("ln", ["-L", "/proc/self/fd/3", inside], { stdio: ["ignore", "ignore", "inherit", made] });
    const kept = openSync(`/proc/self/fd/${made}`, constants.O_RDONLY);
    closeSync(made);
    return kept;
  },
};

function keptWith(flags: number, outside: string, inside: string): number {
  writeFileSync(outside, "nothing");
  const kept = openSync(outside, flags);
  linkSync(outside, inside);
  rmSync(outside);
  return kept;
}

test.each(Object.entries(keptBy))(
  "a write through %s is seen by the searches that scrub",
  async (_, keep) => {
    const { at, find, settle, searcher } = await openWatched({ scrubbedFiles: 5 });
    const kept = keep(`${at("")}-outside`, at("d/kept"));
    await find();
    await settle();
    await searcher.index?.filled();
    await find();
    const writer = openSync(`/proc/self/fd/${kept}`, "r+");
    writeSync(writer, "needles", 0);
    closeSync(writer);
    const seen: boolean[] = [];
    // 21 files, 5 in each search.
    for (let search = 0; search < 6; search++)
      seen.push((await find({ pattern: "needles", paths: false })).includes("d/kept"));
    expect(seen.at(-1)).toBe(true);
    closeSync(kept);
  },
);

test("a write through a name that is gone is seen at once with `verified`", async () => {
  const base = mkdtempSync(join(tmpdir(), "coder-"));
  closing.push(() => rmSync(base, { recursive: true }));
  const outside = `${base}-outside`;
  for (const [how, keep] of Object.entries(keptBy)) {
    const kept = keep(outside, join(base, "kept"));
    const searcher = openSearcher(base, {
      backend: "openat",
      threads: 2,
      index: { mode: "verified", maxBytes: 2 ** 24 },
    });
    const search = () => searcher.search({ pattern: "needles" });
    for (let round = 0; round < 3; round++) {
      expect((await search()).content_matches).toEqual([]);
      await searcher.index?.filled();
    }
    const writer = openSync(`/proc/self/fd/${kept}`, "r+");
    writeSync(writer, "needles", 0);
    for (const descriptor of [writer, kept]) closeSync(descriptor);
    expect([how, (await search()).content_matches.map(({ path }) => path)]).toEqual([how, ["kept"]]);
    await searcher.close();
    rmSync(join(base, "kept"));
  }
});
