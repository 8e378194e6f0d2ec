import { afterAll, expect, spyOn, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { lockExclusively } from "../../filesystem/jail/flock.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { openStateFolder, type StateFolder } from "../../filesystem/state/state-folder.ts";
import { ContentIndex } from "./content-index.ts";
import { FileRecords, fileFlags } from "./file-records.ts";
import { bytesOfIndex } from "./index-file.ts";
import type { NeededNgrams } from "./needed-ngrams.ts";
import { type FakeFile, filesPerSave, maxBytes, signedOf } from "./saved-index.test-kit.ts";
import { SavedIndex } from "./saved-index.ts";
import type { SignedFiles } from "./sign-files.ts";
import { checksumOf, signatureSizes } from "./signature-file.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-saved-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = { name: ".", hostPath: join(folder, "base") };
let made = 0;
const state = () => openStateFolder({ dir: join(folder, String(made++)), roots: [root] });

const file = fc.tuple(
  fc.integer({ min: 1, max: 60 }),
  fc.constantFrom(0, 8, 9, 12, 12),
  fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }),
);

const take = fc.array(file, { minLength: 1, maxLength: 50 }).map((files) => ({ files }));
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: take },
    { weight: 2, arbitrary: fc.constant("save" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  ),
  { maxLength: 8 },
);
const hashes = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 3 });
const needed = fc.array(
  fc.array(
    hashes.map((all) => Int32Array.from(all)),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 1, maxLength: 2 },
);

/** Returns the inodes of the files that may match. */
async function candidatesOf(index: ContentIndex, of: NeededNgrams): Promise<readonly number[] | undefined> {
  const found = await index.judge(of, createTimeSlice(1));
  if (found === undefined) return undefined;
  const bits = new Int32Array(found.mayMatch);
  const numbers = Array.from({ length: index.state.files }, (_, number) => number);
  index.release();
  return numbers.filter((number) => (bits[number >>> 5]! & (1 << (number & 31))) !== 0);
}

/** Memory that the signatures of these tests exceed. */
const littleMemory = 2 ** 16;

/** Creates an index that moves signatures to the disk, and counts how often. */
function openSpilling(saved: SavedIndex, bytes = littleMemory) {
  const counts = { spilled: 0 };
  const index = new ContentIndex(bytes, {
    spill: (signatures, closed) => {
      counts.spilled++;
      return saved.spill(signatures, closed);
    },
  });
  return { index, counts };
}

/** Resolves once everything is stored. */
async function settle(index: ContentIndex): Promise<void> {
  await index.hold();
  index.release();
}

async function store(index: ContentIndex, files: SignedFiles): Promise<void> {
  await index.take(files);
  await settle(index);
}

const memories = fc.constantFrom(maxBytes, littleMemory);
const several = fc.array(needed, { minLength: 1, maxLength: 3 });

test("an index that was saved, loaded and changed finds what one in memory finds", async () => {
  let [compared, spilled] = [0, 0];
  await fc.assert(
    fc.asyncProperty(steps, several, memories, async (all, queries, bytes) => {
      const saved = new SavedIndex({ state: state(), identity: "tree" });
      let { index: kept, counts } = openSpilling(saved, bytes);
      /** Updates since the last save are lost with a process. */
      let [done, lasting]: [SignedFiles[], SignedFiles[]] = [[], []];
      let isSaved = false;
      for (const step of all) {
        if (step === "save") {
          await saved.save(kept);
          lasting = [...done];
          isSaved = true;
        } else if (step === "restart") {
          kept.close();
          spilled += counts.spilled;
          ({ index: kept, counts } = openSpilling(saved, bytes));
          expect(await saved.loadInto(kept)).toBe(isSaved);
          done = [...lasting];
        } else {
          await store(kept, signedOf(step.files));
          done.push(signedOf(step.files));
        }
        const memory = new ContentIndex(maxBytes);
        for (const files of done) await store(memory, files);
        expect(kept.state.files).toBe(memory.state.files);
        for (const query of queries) {
          const expected = await candidatesOf(memory, query);
          expect(await candidatesOf(kept, query)).toEqual(expected);
          if (expected !== undefined && expected.length > 0) compared++;
        }
      }
      kept.close();
      spilled += counts.spilled;
    }),
    propertyRuns(225),
  );
  expect(compared).toBeGreaterThan(20);
  expect(spilled).toBeGreaterThan(2);
});

const manyFiles = fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(8, 9, 12)), {
  minLength: 20,
  maxLength: 60,
});
const moments = fc.array(
  fc.record({
    turns: fc.nat({ max: 3 }),
    act: fc.oneof(
      { weight: 4, arbitrary: manyFiles },
      { weight: 4, arbitrary: needed },
      { weight: 1, arbitrary: fc.constant("save" as const) },
    ),
  }),
  { minLength: 30, maxLength: 80 },
);

/** Creates the spy that ends each time slice after one step, if `isShort`. */
function shortenSlices(isShort = true) {
  const clock = spyOn(performance, "now");
  let now = 0;
  if (isShort) clock.mockImplementation(() => (now += 10));
  return clock;
}

/** Returns whether a search may find exactly these files, by number, after some of the files were stored. */
function mayFind(found: readonly number[], query: NeededNgrams, stored: readonly FakeFile[]): boolean {
  const numbers = new Map<number, number>();
  const wrong = new Set(found);
  const toggle = (number: number, isMatch: boolean) =>
    isMatch === found.includes(number) ? wrong.delete(number) : wrong.add(number);
  for (const [inode, , hashes] of stored) {
    const number = numbers.get(inode) ?? numbers.size;
    numbers.set(inode, number);
    toggle(
      number,
      query.some((sets) => sets.every((set) => set.some((hash) => hashes.includes(hash)))),
    );
    if (wrong.size === 0) return true;
  }
  return false;
}

test("a search that begins at any moment finds what an index finds that has stored some of the files", async () => {
  let [searches, spilled] = [0, 0];
  await fc.assert(
    fc.asyncProperty(moments, fc.boolean(), async (all, isShort) => {
      using _ = shortenSlices(isShort);
      const saved = new SavedIndex({ state: state(), identity: "tree" });
      const { index, counts } = openSpilling(saved, 2 ** 17);
      const work: Promise<unknown>[] = [];
      const updates: FakeFile[][] = [];
      const found: { query: NeededNgrams; files: readonly number[] | undefined }[] = [];
      const search = async (query: NeededNgrams) => {
        found.push({ query, files: await candidatesOf(index, query) });
      };
      for (const { turns, act } of all) {
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (act === "save") work.push(saved.save(index));
        else if (isUpdate(act)) {
          const from = updates.length;
          updates.push(act.map(([inode, bits]) => [inode, bits, [inode % 40, (inode * 7 + from) % 40]]));
          work.push(index.take(signedOf(updates[from]!)));
        } else work.push(search(act));
      }
      await Promise.all(work);
      await settle(index);
      const last = found.map(({ query }) => query);
      for (const query of last) await search(query);
      const memory = new ContentIndex(2 ** 26);
      for (const update of updates) await store(memory, signedOf(update));
      for (const [at, { query, files }] of found.entries()) {
        if (at >= last.length) expect(files).toEqual(await candidatesOf(memory, query));
        else if (files !== undefined) expect(mayFind(files, query, updates.flat())).toBe(true);
        if (files !== undefined && files.length > 0) searches++;
      }
      spilled += counts.spilled;
      index.close();
    }),
    propertyRuns(60),
  );
  expect([searches > 50, spilled > 2]).toEqual([true, true]);
});

const isUpdate = (act: unknown): act is readonly (readonly [number, number])[] =>
  Array.isArray(act) && typeof act[0]?.[0] === "number";

/** Returns files of one size, with inodes from `first` on. */
const filesOf = (first: number, count: number, bits: number) =>
  signedOf(Array.from({ length: count }, (_, at) => [first + at, bits, [(first + at) % 20]] as const));

test("an index that has taken as much of the disk as it may is saved, and loaded by the next process", async () => {
  const saved = new SavedIndex({ state: state(), identity: "tree" });
  const { index } = openSpilling(saved, 2 ** 21);
  for (let first = 1; first < 10_000; first += 30) await index.take(filesOf(first, 30, 14));
  await saved.save(index);
  const { index: next } = openSpilling(saved, 2 ** 21);
  expect([await saved.loadInto(next), next.state.files]).toEqual([true, index.state.files]);
  for (const one of [index, next]) one.close();
});

test.each([
  ["memory alone", 12],
  ["the disk as well", 14],
] as const)("the table of files leaves memory to the signatures, with %s", async (where, bits) => {
  const saved = new SavedIndex({ state: state(), identity: "tree" });
  const maxMemory = 2 ** 18;
  const index = where === "memory alone" ? new ContentIndex(maxMemory) : openSpilling(saved, maxMemory).index;
  for (let first = 1; first < 1600; first += 30) await index.take(filesOf(first, 30, bits));
  for (let first = 1600; first < 9000; first += 500) await index.take(filesOf(first, 500, 8));
  await settle(index);
  expect(index.state.bytes).toBeLessThanOrEqual(maxMemory);
  index.close();
});

test("if the disk takes no signatures, the index keeps those that it has memory for", async () => {
  const index = new ContentIndex(littleMemory, { spill: () => Promise.reject(new Error("ENOSPC")) });
  for (let first = 1; first < 600; first += 30)
    await index.take(signedOf(Array.from({ length: 30 }, (_, at) => [first + at, 12, [at % 20]] as const)));
  await settle(index);
  const found = await candidatesOf(index, query);
  expect(found?.length).toBeGreaterThan(0);
  expect(index.state.bytes).toBeLessThanOrEqual(littleMemory);
});

/** Returns how many of the files in an index searches have signed again, and how many they always read. */
function countsOf(index: ContentIndex) {
  const { files } = index.state;
  const records = new FileRecords(index.holdRecords());
  index.release();
  const counts = { toSign: 0, alwaysRead: 0 };
  const { stamps } = filesOf(1, files, 0);
  for (let at = 0; at < files; at++) {
    const own = stamps.subarray(at * stampWords, (at + 1) * stampWords);
    const file = records.find(own);
    if (!records.hasStamps(file, own)) counts.toSign++;
    else if ((records.flags(file) & fileFlags.alwaysRead) !== 0) counts.alwaysRead++;
  }
  return counts;
}

/** Adds 2,010 files to an index, whose signatures take 1 MiB. */
async function fill(index: ContentIndex): Promise<void> {
  for (let first = 1; first < 2000; first += 30) await index.take(filesOf(first, 30, 12));
  await settle(index);
}

test("signatures do not move from memory to a state folder in memory", async () => {
  const dir = mkdtempSync("/dev/shm/coder-");
  try {
    const saved = new SavedIndex({ state: openStateFolder({ dir, roots: [root] }), identity: "tree" });
    const { index, counts } = openSpilling(saved, 2 ** 19);
    await fill(index);
    expect([counts.spilled > 1, countsOf(index).alwaysRead > 100]).toEqual([true, true]);
    index.close();
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("if the disk takes no signatures for a while, it takes later ones, and files without any are signed again", async () => {
  const saved = new SavedIndex({ state: state(), identity: "tree" });
  let failures = 1;
  const index = new ContentIndex(2 ** 19, {
    spill: async (signatures, closed) => {
      if (failures-- > 0) throw new Error("EMFILE");
      return await saved.spill(signatures, closed);
    },
  });
  await fill(index);
  const { toSign, alwaysRead } = countsOf(index);
  expect([toSign > 0, alwaysRead]).toEqual([true, 0]);
  await fill(index);
  expect(countsOf(index)).toEqual({ toSign: 0, alwaysRead: 0 });
  index.close();
});

test("files without room for their signatures are signed again by a process that has it", async () => {
  const saved = new SavedIndex({ state: state(), identity: "tree" });
  const index = new ContentIndex(2 ** 19);
  await fill(index);
  const { alwaysRead } = countsOf(index);
  expect(alwaysRead).toBeGreaterThan(100);
  await saved.save(index);
  const next = new ContentIndex(2 ** 22);
  expect([await saved.loadInto(next), countsOf(next)]).toEqual([true, { toSign: alwaysRead, alwaysRead: 0 }]);
  for (const one of [index, next]) one.close();
});

const some = signedOf(Array.from({ length: 40 }, (_, at) => [at + 1, 8 + (at % 3), [at % 20]] as const));
const query: NeededNgrams = [[Int32Array.of(3)]];

/** Saves an index, and returns its only file. */
async function saveSome(identity = "tree") {
  const folderOf = state();
  const index = new ContentIndex(maxBytes);
  await store(index, some);
  await new SavedIndex({ state: folderOf, identity }).save(index);
  index.close();
  const place = folderOf.find("index")!;
  const names = readdirSync(place);
  expect(names).toHaveLength(1);
  return { state: folderOf, path: join(place, names[0]!) };
}

async function loads(of: StateFolder, identity: string, memory = maxBytes): Promise<boolean> {
  const index = new ContentIndex(memory);
  const isLoaded = await new SavedIndex({ state: of, identity }).loadInto(index);
  index.close();
  return isLoaded;
}

test("a saved index of another tree, or other rules, is not loaded", async () => {
  const { state: of } = await saveSome();
  expect([await loads(of, "tree"), await loads(of, "other")]).toEqual([true, false]);
});

test("a saved index that is larger than the memory for indexes is not loaded, and not even read", async () => {
  const { state: of, path } = await saveSome();
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
  expect([await loads(of, "tree", 2 ** 10), existsSync(path)]).toEqual([false, true]);
  expect([await loads(of, "tree"), existsSync(path)]).toEqual([false, false]);
});

test("the size of a saved index is known before it is written, and an index that cannot be says so", async () => {
  const index = new ContentIndex(maxBytes);
  await store(index, some);
  const held = await index.hold();
  index.release();
  const { path, state: of } = await saveSome();
  expect(statSync(path).size).toBe(bytesOfIndex(held));
  const saved = new SavedIndex({ state: of, identity: "tree" });
  const folderOf = of.find("index")!;
  rmSync(folderOf, { recursive: true });
  writeFileSync(folderOf, "");
  expect(await saved.save(index)).toBe(false);
  rmSync(folderOf);
  mkdirSync(folderOf);
  expect(await saved.save(index)).toBe(true);
  index.close();
});

test("a saved index that was torn or altered anywhere leaves no file out", async () => {
  const { state: of, path } = await saveSome();
  const intact = readFileSync(path);
  const memory = new ContentIndex(maxBytes);
  await store(memory, some);
  const expected = (await candidatesOf(memory, query))!;
  expect(expected.length).toBeGreaterThan(0);
  let [loaded, refused] = [0, 0];
  const check = async (bytes: Uint8Array) => {
    writeFileSync(path, bytes);
    const index = new ContentIndex(maxBytes);
    if (await new SavedIndex({ state: of, identity: "tree" }).loadInto(index)) {
      loaded++;
      const found = await candidatesOf(index, query);
      // An index without candidates has the search read all files.
      if (found !== undefined) expect(found).toEqual(expect.arrayContaining([...expected]));
    } else refused++;
    index.close();
  };
  for (let cut = 0; cut < intact.length; cut += 997) await check(intact.subarray(0, cut));
  for (let at = 0; at < intact.length; at += 211) {
    const altered = Buffer.from(intact);
    altered[at]! ^= 1 << (at % 8);
    await check(altered);
  }
  expect([loaded > 10, refused > 10]).toEqual([true, true]);
});

test("an index that is full is loaded again while it is new, and not once as many files have changed", async () => {
  const saved = () => new SavedIndex({ state: of, identity: "tree" });
  const of = state();
  const memory = 2 ** 18;
  /** The next inode: each file that replaces one has its own. */
  let inode = 1;
  const change = async (index: ContentIndex, count: number) => {
    for (let left = count; left > 0; left -= 100) {
      await index.take(filesOf(inode, Math.min(left, 100), 8));
      inode += 100;
    }
    await settle(index);
  };
  const isFull = async (index: ContentIndex) => {
    const found = await index.judge(query, createTimeSlice());
    index.release();
    return found!.isFull;
  };
  const large = openSpilling(saved(), memory).index;
  await change(large, 4000);
  await saved().save(large);
  expect(await isFull(large)).toBe(true);
  large.close();
  expect(await loads(of, "tree", memory)).toBe(true);

  const small = openSpilling(saved(), memory).index;
  const own = saved();
  await change(small, 300);
  await own.save(small);
  await change(small, 500);
  await own.save(small);
  small.close();
  const next = openSpilling(saved(), memory).index;
  const nextSaved = saved();
  expect(await nextSaved.loadInto(next)).toBe(true);
  await change(next, 3000);
  expect(await isFull(next)).toBe(true);
  await nextSaved.save(next);
  next.close();
  expect(await loads(of, "tree", memory)).toBe(false);
});

test("a pipe, a link or a folder in place of a saved index does not hold up a process", async () => {
  const { state: of, path } = await saveSome();
  const others = [
    () => execFileSync("mkfifo", [path]),
    () => symlinkSync("/dev/zero", path),
    () => mkdirSync(path),
  ];
  for (const make of others) {
    rmSync(path, { recursive: true, force: true });
    make();
    expect(await loads(of, "tree")).toBe(false);
  }
});

/** Changes the part of a saved index before its rows, and the checksum accordingly. */
function forge(path: string, change: (words: Uint32Array) => void): void {
  const words = new Uint32Array(Uint8Array.from(readFileSync(path)).buffer);
  change(words);
  const [tableWords, blocks] = [words[8]!, words[10]!];
  const headWords = 13 + tableWords + signatureSizes + 33 * blocks;
  const sum = checksumOf(words, 0, 12);
  words[12] = checksumOf(words, 13, headWords, sum);
  writeFileSync(path, words);
}

const forgeries: Readonly<Record<string, (words: Uint32Array) => void>> = {
  "more entries than records": (words) => {
    for (let at = 13; at < 13 + 1024; at++) words[at] ||= 1;
  },
  "an entry without a record": (words) => {
    words[words.findIndex((word, at) => at >= 13 && word !== 0)] = 10_000;
  },
  "a signature without a record": (words) => {
    words[13 + words[8]! + signatureSizes + words[10]! + 1] = 10_000;
  },
  "more records than it has": (words) => {
    words[9] = 41;
  },
  "fewer blocks than it has": (words) => {
    words[10]!--;
  },
};

test.each(Object.entries(forgeries))("a forged index is not loaded that has %s", async (_, change) => {
  const { state: of, path } = await saveSome();
  forge(path, () => {});
  expect(await loads(of, "tree")).toBe(true);
  forge(path, change);
  expect(await loads(of, "tree")).toBe(false);
});

test("a saved index with a fault is removed, and its files are read and signed again", async () => {
  const { state: of, path } = await saveSome();
  const intact = readFileSync(path);
  writeFileSync(path, intact.subarray(0, intact.length - 1));
  expect([await loads(of, "tree"), existsSync(path)]).toEqual([false, false]);
  writeFileSync(path, intact);
  const index = new ContentIndex(maxBytes);
  const saved = new SavedIndex({ state: of, identity: "tree" });
  expect(await saved.loadInto(index)).toBe(true);
  writeFileSync(path, Buffer.alloc(intact.length));
  const added = signedOf([[99, 9, [3]]]);
  await store(index, added);
  expect([await candidatesOf(index, query), existsSync(path)]).toEqual([undefined, false]);
  // The other files are always read until they are signed again.
  await index.stored();
  expect(await candidatesOf(index, query)).toEqual([40]);
  await store(index, some);
  const memory = new ContentIndex(maxBytes);
  for (const files of [some, added]) await store(memory, files);
  expect(await candidatesOf(index, query)).toEqual(await candidatesOf(memory, query));
  await saved.save(index);
  expect([await loads(of, "tree"), existsSync(path)]).toEqual([true, true]);
  index.close();
});

/** The ways for an index to get a file of signatures. */
const files: Readonly<Record<string, (saved: SavedIndex, index: ContentIndex) => Promise<unknown>>> = {
  spills: (_, index) =>
    index.take(signedOf(Array.from({ length: 90 }, (_, at) => [at + 100, 12, [at % 20]]))),
  "is saved": (saved, index) => saved.save(index),
  "is loaded": (saved, index) => saved.loadInto(index),
};

test.each(Object.entries(files))(
  "an index that is closed while it %s ends that, and leaves no file open",
  async (way, begin) => {
    const { state: of, path } = await saveSome();
    const { ino } = statSync(path);
    const saved = new SavedIndex({ state: of, identity: "tree" });
    const { index } = openSpilling(saved);
    if (way !== "is loaded") await store(index, some);
    using _ = shortenSlices();
    const work = begin(saved, index);
    while (filesOpenIn(of).length === 0) await undefined;
    index.close();
    await work;
    await index.take(some);
    // Descriptors are closed in another thread.
    while (filesOpenIn(of).length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect([readdirSync(of.find("index")!), statSync(path).ino]).toEqual([[basename(path)], ino]);
  },
);

/** Returns the files in a state folder that this process has open. */
const filesOpenIn = ({ location }: StateFolder): readonly string[] =>
  readdirSync("/proc/self/fd")
    .map((descriptor) => targetOf(join("/proc/self/fd", descriptor)))
    .filter((target) => target.startsWith(location));

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // It was the descriptor that listed the folder.
    return "";
  }
}

test("the files of a faulty file are dropped in steps, while searches find them", async () => {
  const { state: of, path } = await saveSome();
  const index = new ContentIndex(maxBytes);
  await new SavedIndex({ state: of, identity: "tree" }).loadInto(index);
  // More records than one step drops.
  for (let first = 41; first < 9000; first += 500) await index.take(filesOf(first, 500, 0));
  await settle(index);
  writeFileSync(path, Buffer.alloc(statSync(path).size));
  using clock = shortenSlices();
  const all = Array.from({ length: 40 }, (_, file) => file);
  expect(await candidatesOf(index, query)).toEqual(all);
  expect(countsOf(index).toSign).toBe(0);
  // Each search reads the files that were dropped.
  expect([40, 0]).toContain((await candidatesOf(index, query))!.length);
  await settle(index);
  expect([await candidatesOf(index, query), countsOf(index).toSign]).toEqual([[], 40]);
  clock.mockRestore();
  index.close();
});

test("of the indexes of workers with other rules, the newest two are kept", async () => {
  const folderOf = state();
  const index = new ContentIndex(maxBytes);
  await store(index, some);
  for (const [at, identity] of ["one", "two", "three", "four", "four"].entries()) {
    await new SavedIndex({ state: folderOf, identity }).save(index);
    // The clock of the file system may not have moved since the last one.
    for (const name of readdirSync(folderOf.find("index")!)) {
      const path = join(folderOf.find("index")!, name);
      if (statSync(path).mtimeMs > 1e6) utimesSync(path, at, at);
    }
  }
  index.close();
  expect(readdirSync(folderOf.find("index")!)).toHaveLength(3);
  expect([await loads(folderOf, "one"), await loads(folderOf, "four")]).toEqual([false, true]);
});

test("what a process has left that ended while it saved is removed, and not what another one still writes", async () => {
  const { state: of, path } = await saveSome();
  const temporary = (name: string) => `${path}.${name}`;
  writeFileSync(temporary("left"), "");
  const writing = openSync(temporary("writing"), "wx");
  lockExclusively(writing);
  expect(await loads(of, "tree")).toBe(true);
  expect(readdirSync(of.find("index")!).sort()).toEqual(
    [path, temporary("writing")].map((one) => basename(one)),
  );
  closeSync(writing);
  const index = new ContentIndex(maxBytes);
  await new SavedIndex({ state: of, identity: "tree" }).save(index);
  expect(readdirSync(of.find("index")!)).toEqual([basename(path)]);
});

test("whenever a process is killed that saves its index, the next one finds the old or the new", async () => {
  const dir = join(folder, "killed");
  const state = openStateFolder({ dir, roots: [root] });
  const killed: number[] = [];
  for (const lines of [1, 2, 4, 7, 11]) {
    const child = spawn(
      process.execPath,
      [join(import.meta.dir, "saved-index.test-kit.ts"), dir, root.hostPath],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let seen = 0;
    for await (const text of child.stdout) {
      seen += String(text).split("\n").length - 1;
      // The process is about to save the next index, or does so already.
      if (seen >= lines) child.kill("SIGKILL");
    }
    const index = new ContentIndex(maxBytes);
    expect(await new SavedIndex({ state, identity: "tree" }).loadInto(index)).toBe(true);
    const { files } = index.state;
    expect([files % filesPerSave, files >= lines * filesPerSave]).toEqual([0, true]);
    expect(await candidatesOf(index, query)).toHaveLength((files / filesPerSave) * 8);
    index.close();
    killed.push(files);
  }
  expect(killed).toHaveLength(5);
});
