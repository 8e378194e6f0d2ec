import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { Cursors } from "./answer/cursors.ts";
import { PagesFixture, pageFrom, together } from "./pages.test-kit.ts";
import type { Place } from "./place.ts";

const fixture = new PagesFixture();
const { searches, tree } = fixture;

afterAll(() => fixture.close());

const cursors = new Cursors();

test("names that are not UTF-8 have places of their own", async () => {
  fixture.fill({});
  const names = [0xfd, 0xfe, 0xff].map((byte) =>
    Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([byte])]),
  );
  for (const one of names) writeFileSync(one, "foo\nfoo\n");
  for (let by = 0; by < searches.length; by++) {
    const pages = await fixture.readPages({ pattern: "foo" }, [{ maxMatches: 1, by }]);
    expect(together(pages).contents.map(({ path, line }) => `${path}:${line}`)).toEqual(
      names.flatMap(() => ["tree/\ufffd:1", "tree/\ufffd:2"]),
    );
  }
});

test("what was searched, and what was not", async () => {
  fixture.fill({
    a: "foo\n",
    binary: "foo\0",
    "denied.txt": "foo",
    "late-binary": `${"x\n".repeat(2000)}foo\n\0`,
    large: "x".repeat(2 * 1024 * 1024),
    none: "bar\n",
  });
  for (const search of searches) {
    const { searched, skipped } = await search({ pattern: "foo", page: pageFrom(undefined) });
    expect({ searched, skipped }).toEqual({
      searched: { files: 2, bytes: 8 },
      skipped: { too_large: 1, binary: 2, unreadable: 0, long_lines: 0, excluded: 0 },
    });
    const paths = await search({ pattern: "a", content: false, page: pageFrom(undefined) });
    expect(paths.searched).toEqual({ files: 5, bytes: 0 });
  }
});

test("a match larger than a page is a page of its own, and cut if no message could carry it", async () => {
  fixture.fill({ a: `${"\u0001".repeat(1000)}foo\nfoo\n` });
  for (let by = 0; by < searches.length; by++) {
    const pages = await fixture.readPages({ pattern: "foo", paths: false }, [
      { maxMatches: 9, maxBytes: 10, by },
    ]);
    expect(together(pages).contents.map(({ text }) => text.length)).toEqual([1003, 3]);
    const short = await fixture.readPages({ pattern: "foo", paths: false, maxAnswerBytes: 1000 }, [
      { maxMatches: 9, by },
    ]);
    expect(together(short).contents.map(({ line }) => line)).toEqual([1, 2]);
    expect(together(short).contents[0]?.text.length).toBeLessThan(200);
  }
});

test("a page says what ended it, and fits", async () => {
  fixture.fill(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index}/f`, "foo\nfoo\n"])));
  for (const search of searches) {
    const matches = await search({ pattern: "foo", maxMatches: 3, page: pageFrom(undefined) });
    expect(matches.stopped_by).toBe("max_matches");
    const bytes = await search({ pattern: "foo", page: pageFrom(undefined, { maxBytes: 1500 }) });
    expect(bytes.stopped_by).toBe("max_bytes");
    expect(Buffer.byteLength(JSON.stringify(bytes))).toBeLessThanOrEqual(1500);
    const time = await search({ pattern: "foo", page: pageFrom(undefined, { milliseconds: 0 }) });
    expect(time.stopped_by).toBe("deadline");
    // If the walk got through a folder only, the next page begins with its entries.
    expect(pageFrom(time.next_cursor).after!.file).not.toBe("");
    const call = await search({ pattern: "foo", page: pageFrom(undefined) }, 0);
    expect(call.stopped_by).toBe("deadline");
    expect(call.content_matches).toEqual([]);
    const none = await search({ pattern: "foo", maxMatches: 0, page: pageFrom(undefined) });
    expect(none).toMatchObject({ content_matches: [], stopped_by: "max_matches" });
    const whole = await search({ pattern: "foo", page: pageFrom(undefined) });
    expect([whole.stopped_by, whole.next_cursor]).toEqual([undefined, undefined]);
  }
});

test("a deadline goes on through folders in which nothing is to be searched", async () => {
  fixture.fill(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`d${index}/f`, "foo\n"])));
  const exclude = { matches: (path: string) => !path.startsWith("tree/d99") };
  for (let by = 0; by < searches.length; by++) {
    const pages = await fixture.readPages({ pattern: "foo", exclude }, [
      { maxMatches: 9, milliseconds: 0, by },
    ]);
    expect(together(pages).contents.map(({ path }) => path)).toEqual(["tree/d99/f"]);
  }
});

test("a call that has no time for a ranking answers where it began, and one without pages what it has seen", async () => {
  fixture.fill({ "a/foo": "foo\n", foo: "foo\n" });
  // Takes longer than the time slice of a walk, so that the walk checks the clock.
  const slow = () => {
    const end = performance.now() + 8;
    while (performance.now() < end);
    return false;
  };
  const fields = { pattern: "foo", fuzzyPaths: true, exclude: { matches: slow } };
  for (const search of searches) {
    const cut = await search({ ...fields, page: pageFrom(undefined) }, 0);
    expect(cut).toMatchObject({
      content_matches: [],
      path_matches: [],
      truncated: true,
      stopped_by: "deadline",
    });
    const rest = await search({ ...fields, page: pageFrom(cut.next_cursor) });
    expect(rest.path_matches.map(({ path }) => path)).toEqual(["tree/foo", "tree/a/foo"]);
    expect(rest.content_matches.length).toBe(2);
    const first = await search({ ...fields, maxMatches: 1, page: pageFrom(undefined) });
    const again = await search({ ...fields, page: pageFrom(first.next_cursor) }, 0);
    expect(again).toMatchObject({ path_matches: [], stopped_by: "deadline" });
    const left = await search({ ...fields, page: pageFrom(again.next_cursor) });
    expect(left.path_matches.map(({ path }) => path)).toEqual(["tree/a/foo"]);
    expect((await search(fields, 0)).truncated).toBe(true);
  }
});

test("a cursor is good for one query and one process, and for nothing else", () => {
  const places = fc.record(
    {
      file: fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)) }),
      line: fc.nat({ max: 0xffffffff }),
      column: fc.nat({ max: 0xffffffff }),
      rank: fc.integer({ min: -0x7fffffff }),
    },
    { requiredKeys: ["file", "line", "column"] },
  ) satisfies fc.Arbitrary<Place>;
  fc.assert(
    fc.property(places, fc.string(), fc.nat(), (place, query, at) => {
      const cursor = cursors.seal(query, place);
      expect(cursors.open(query, cursor)).toEqual(place);
      expect(cursors.open(`${query}x`, cursor)).toBeUndefined();
      expect(new Cursors().open(query, cursor)).toBeUndefined();
      const index = at % cursor.length;
      const other = cursor[index] === "A" ? "B" : "A";
      expect(cursors.open(query, cursor.slice(0, index) + other + cursor.slice(index + 1))).toBeUndefined();
      expect(cursors.open(query, cursor.slice(0, index))).toBeUndefined();
      expect(cursors.open(query, `${cursor}=`)).toBeUndefined();
    }),
  );
});
