import { expect, spyOn, test } from "bun:test";
import { KnownContents } from "./known-contents.ts";

const file = (text: string) => ({ content: Buffer.from(text), mode: 0o644 });
const textOf = (seen: KnownContents, path: string, seq: number) => seen.before(path, seq)?.content.toString();

test("a content belongs to the change that ended it, and to no other", () => {
  const seen = new KnownContents();
  seen.note("a", file("one"));
  seen.note("a", file("two"));
  expect(seen.current("a")?.content.toString()).toBe("two");
  seen.end("a", 5);
  seen.end("a", 6);
  seen.note("a", file("three"));
  seen.end("a", 7);
  expect([4, 5, 6, 7].map((seq) => textOf(seen, "a", seq))).toEqual([undefined, "two", undefined, "three"]);
  expect([seen.current("a"), textOf(seen, "b", 5)]).toEqual([undefined, undefined]);
});

test("unchanged files of a moved folder are forgotten, and earlier changes are not", () => {
  const seen = new KnownContents();
  for (const path of ["d/a", "d/b", "da"]) seen.note(path, file(path));
  seen.end("d/a", 1);
  seen.dropBelow("d");
  seen.end("d/b", 2);
  seen.end("da", 3);
  expect([textOf(seen, "d/a", 1), textOf(seen, "d/b", 2), textOf(seen, "da", 3)]).toEqual([
    "d/a",
    undefined,
    "da",
  ]);
});

test("the oldest contents make room for new ones, and a large file has none", () => {
  const seen = new KnownContents({ file: 4, total: 8 });
  seen.note("a", file("aaaa"));
  seen.note("b", file("bbbb"));
  seen.note("a", file("AAAA"));
  seen.note("c", file("cccc"));
  seen.note("c", file("ccccc"));
  for (const path of ["a", "b", "c"]) seen.end(path, 1);
  expect(["a", "b", "c"].map((path) => textOf(seen, path, 1))).toEqual(["AAAA", undefined, undefined]);
});

test("empty files have room for a limited number, and the oldest make room", () => {
  const seen = new KnownContents({ contents: 2 });
  for (const path of ["a", "b", "c"]) seen.note(path, file(""));
  expect(["a", "b", "c"].map((path) => textOf(seen, path, 1) ?? seen.current(path)?.content.length)).toEqual([
    undefined,
    0,
    0,
  ]);
});

test("a folder is forgotten however many others are, and what is noted afterwards is not", () => {
  for (const folders of [1, 100]) {
    const seen = new KnownContents({ folders });
    for (const path of ["d/e/a", "d/b", "c"]) seen.note(path, file(path));
    for (const folder of ["d", "x", "y", "x"]) seen.dropBelow(folder);
    seen.note("d/b", file("new"));
    const now = ["d/e/a", "d/b", "c"].map((path) => seen.current(path)?.content.toString());
    expect(now).toEqual([undefined, "new", "c"]);
    seen.dropBelow("");
    expect(["d/b", "c"].map((path) => seen.current(path))).toEqual([undefined, undefined]);
  }
});

test("the files of very many dropped folders are forgotten some at a time, and all before as many follow", () => {
  const seen = new KnownContents({ folders: 100 });
  let uses = 0;
  const content = Buffer.from("x");
  const counted = {
    get content() {
      uses++;
      return content;
    },
    mode: 0o644,
  };
  for (let index = 0; index < 2000; index++) seen.note(`d/${index}`, counted);
  const most = { uses: 0, total: uses };
  for (let index = 0; index < 300; index++) {
    uses = 0;
    seen.dropBelow(index === 0 ? "d" : `e${index}`);
    expect(seen.current("d/7")).toBeUndefined();
    most.uses = Math.max(most.uses, uses);
    most.total += uses;
  }
  expect(most.uses).toBeLessThanOrEqual(20);
  // Each was kept, and forgotten once.
  expect(most.total).toBeGreaterThanOrEqual(4000);
  seen.note("d/7", file("new"));
  expect(seen.current("d/7")?.content.toString()).toBe("new");
});

test("the files of one deep folder are swept without a walk to the base for each", () => {
  const seen = new KnownContents({ folders: 100 });
  const deep = "d/".repeat(250);
  for (let index = 0; index < 2000; index++) seen.note(`${deep}${index}`, file(""));
  for (let index = 0; index < 100; index++) seen.dropBelow(`a${index}`);
  const lookups = spyOn(Map.prototype, "get");
  try {
    for (let index = 0; index < 50; index++) seen.dropBelow(`b${index}`);
    // Each drop walks once, through the drops of before and of now, and checks twenty files.
    expect(lookups.mock.calls.length).toBeLessThan(50 * (2 * 251 + 3 * 20));
  } finally {
    lookups.mockRestore();
  }
  expect(seen.current(`${deep}7`)).toBeDefined();
  seen.dropBelow("d/d");
  expect(seen.current(`${deep}7`)).toBeUndefined();
});
