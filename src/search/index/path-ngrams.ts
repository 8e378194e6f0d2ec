import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { NeededNgrams } from "../signatures/needed-ngrams.ts";
import { foldByte, hashBits, hashFolded, shortestNgram } from "../signatures/ngrams.ts";
import type { WalkList } from "./walk-list.ts";

/** The paths of a list, each followed by a NUL. */
export interface PathBytes {
  readonly bytes: Buffer;
  /** The offset of each path, and that of the end. */
  readonly starts: Uint32Array;
}

/** The entries or folders of a list that one step adds. A path has up to some thousand bytes. */
const entriesPerStep = 512;

/** Returns the paths as a search matches them, with U+FFFD for bytes that are not UTF-8. */
export function* pathBytesOf({ keys, folders, places }: WalkList): Steps<PathBytes> {
  const prefixes: Buffer[] = [];
  for (const { path } of places) {
    prefixes.push(Buffer.from(path === "" ? "" : `${path}/`));
    if (prefixes.length % entriesPerStep === 0) yield;
  }
  yield;
  const starts = new Uint32Array(keys.length + 1);
  for (let i = 0; i < keys.length; i++) {
    const length = prefixes[folders[i]!]!.length + Buffer.byteLength(textOf(keys[i]!));
    starts[i + 1] = starts[i]! + length + 1;
    if (i % entriesPerStep === 0) yield;
  }
  const bytes = Buffer.alloc(starts[keys.length]!);
  for (let i = 0; i < keys.length; i++) {
    const prefix = prefixes[folders[i]!]!;
    bytes.set(prefix, starts[i]!);
    bytes.write(textOf(keys[i]!), starts[i]! + prefix.length);
    if (i % entriesPerStep === 0) yield;
  }
  return { bytes, starts };
}

/** Returns the text of a name whose characters are its bytes. */
const textOf = (key: string): string => (isAscii(key) ? key : Buffer.from(key, "latin1").toString());

const isAscii = (key: string): boolean => /^[\0-\x7f]*$/.test(key);

/** Maximum sets of n-grams to search for. More would rule out few additional paths. */
const maxSets = 31;

/** Decides which paths may match, by the n-grams that a match needs. */
export class PathNgrams {
  /** The sets of each hash, as a bit mask. */
  readonly #setsOf = new Int32Array(2 ** hashBits);
  /** Bit masks of sets. A path that may match has all sets of at least one mask. */
  readonly #wanted: readonly number[];

  constructor(needed: NeededNgrams) {
    const most = Math.floor(maxSets / needed.length);
    let set = 0;
    this.#wanted = needed.map((sets) => {
      let wanted = 0;
      for (const hashes of sets.slice(0, most)) {
        for (const hash of hashes) this.#setsOf[hash]! |= 1 << set;
        wanted |= 1 << set++;
      }
      return wanted;
    });
  }

  /** Returns whether the path in `bytes[from, to)` may match. */
  mayMatch(bytes: Buffer, from: number, to: number): boolean {
    if (to - from < shortestNgram) return false;
    let found = 0;
    let last = (foldByte(bytes[from]!) << 16) | (foldByte(bytes[from + 1]!) << 24);
    for (let at = from + 2; at < to; at++) {
      last = (last >>> 8) | (foldByte(bytes[at]!) << 24);
      found |= this.#setsOf[hashFolded(last >>> 8)]! | this.#setsOf[hashFolded(last)]!;
    }
    return this.#wanted.some((wanted) => (found & wanted) === wanted);
  }
}
