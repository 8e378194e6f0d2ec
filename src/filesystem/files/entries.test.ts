import { expect, test } from "bun:test";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Folder } from "../jail/folder.ts";
import { type EntriesInWindow, readEntries, readWindow } from "./entries.ts";

const pieces = 25;
const namesPerPiece = 2000;

/**
 * Returns a folder that lists `pieces` pieces of names, and a count of the names reported since the last
 * query.
 */
function vastFolder() {
  let count = 0;
  const folder: Pick<Folder, "requested" | "list"> = {
    requested: ".",
    *list(onDirent) {
      for (let piece = 0; piece < pieces; piece++) {
        for (let i = 0; i < namesPerPiece; i++) {
          const name = Buffer.from(`${(i * 7919) % namesPerPiece}-${piece}`);
          onDirent(name, 0, name.length, "file");
          count++;
        }
        yield;
      }
    },
  };
  const reportedSince = () => {
    const since = count;
    count = 0;
    return since;
  };
  return { folder: folder as Folder, reportedSince: reportedSince };
}

const window = { from: 10, to: 20, isLeftOut: (name: string) => name.endsWith("-0") };

/** Reads a part of the folder. In folders like these, not even the first step is done at once. */
const partOf = (folder: Folder) => readWindow(folder, window) as Steps<EntriesInWindow>;

test("a folder is read in steps, of which none tells more than one piece of it", () => {
  const { folder, reportedSince } = vastFolder();
  const reading = readEntries(folder);
  let steps = 0;
  for (let isMore = true; isMore; steps++) {
    const { done, value } = reading.next();
    expect(reportedSince()).toBeLessThanOrEqual(namesPerPiece);
    isMore = !done;
    if (done) expect(value).toHaveLength(pieces * namesPerPiece);
  }
  // The steps read it, sort it, and make entries of it.
  expect(steps).toBeGreaterThan(3 * pieces);
});

test("a part of a folder is read in no fewer steps, and only that part is sorted", () => {
  const { folder, reportedSince } = vastFolder();
  const reading = partOf(folder);
  let steps = 0;
  for (;;) {
    const { done, value } = reading.next();
    expect(reportedSince()).toBeLessThanOrEqual(namesPerPiece);
    steps++;
    if (!done) continue;
    expect(value.entries).toHaveLength(10);
    expect(value.total).toBe((pieces - 1) * namesPerPiece);
    expect(value.leftOut).toHaveLength(namesPerPiece);
    break;
  }
  expect(steps).toBeGreaterThanOrEqual(pieces);
});

test("a reading that is given up closes the folder", () => {
  let closed = 0;
  const folder: Pick<Folder, "requested" | "list"> = {
    requested: ".",
    *list() {
      try {
        for (;;) yield;
      } finally {
        closed++;
      }
    },
  };
  for (const reading of [readEntries(folder as Folder), partOf(folder as Folder)]) {
    reading.next();
    reading.return(undefined as never);
  }
  expect(closed).toBe(2);
});

test("names are judged in steps, if each takes long to omit, and the same are left out", () => {
  const judged: number[] = [];
  const read = (perStep: number) => {
    const { folder } = vastFolder();
    let count = 0;
    const omits = ({ bytes, from }: { bytes: Buffer; from: number }) => {
      count++;
      return bytes[from] === 0x31;
    };
    const reading = readWindow(folder, { ...window, omits: { omits, perStep } }) as Steps<EntriesInWindow>;
    for (let most = 0; ; ) {
      const { done, value } = reading.next();
      most = Math.max(most, count);
      count = 0;
      if (!done) continue;
      judged.push(most);
      return value;
    }
  };
  expect(read(1)).toEqual(read(1000));
  expect(judged[0]).toBeLessThanOrEqual(2);
  expect(judged[1]).toBeGreaterThan(1000);
});
