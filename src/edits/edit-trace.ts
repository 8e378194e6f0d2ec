/** Follows what each op did to a file through all ops behind it. */
import { mostSites, type Site } from "./echo.ts";
import type { Edited } from "./line-ops.ts";
import { composeSplices, regionAfter, type Splice } from "./splices.ts";

/** What one op on the whole text did. */
export interface TextEdit {
  /** The op, by its place in the caller's list, from 0. */
  readonly index: number;
  /** In bytes of the text before it. */
  readonly splices: readonly Splice[];
  /** Matches that it replaced. */
  readonly replacements: number;
}

/** Places that are followed: there is no room for more echoes. */
const mostFollowed = 200;

export class EditTrace {
  #splices: readonly Splice[];
  #sites: readonly Site[];

  /** Begins with what the line ops did. */
  constructor({ splices, regions }: Pick<Edited, "splices" | "regions">) {
    this.#splices = composeSplices([], splices);
    this.#sites = firstByOp(regions);
  }

  /** From the file before all ops to the file after them. */
  get splices(): readonly Splice[] {
    return this.#splices;
  }

  /** Where each op changed the file, in bytes of the file after all ops; of an op with many matches the first few. */
  get sites(): readonly Site[] {
    return this.#sites;
  }

  add({ index, splices, replacements }: TextEdit): void {
    const followed = this.#sites.map((site) => ({ ...site, ...regionAfter(site, splices) }));
    this.#sites = firstByOp([...followed, ...sitesOf({ index, splices, replacements })]);
    this.#splices = composeSplices(this.#splices, splices);
  }
}

const firstByOp = (sites: readonly Site[]): readonly Site[] =>
  sites.length <= mostFollowed ? sites : sites.toSorted((a, b) => a.index - b.index).slice(0, mostFollowed);

function sitesOf({ index, splices, replacements }: TextEdit): Site[] {
  if (replacements === 0) return [{ index, from: 0, to: 0, replacements }];
  let added = 0;
  return splices.slice(0, mostSites).map(({ from, to, length }) => {
    const start = from + added;
    added += length - (to - from);
    return { index, from: start, to: start + length, replacements };
  });
}

/** The one splice between two texts of which nothing else is known: all but what they begin and end with alike. */
export function spliceBetween(before: Buffer, after: Buffer): Splice[] {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let same = 0;
  while (same < most - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  if (from === before.length && from === after.length) return [];
  return [{ from, to: before.length - same, length: after.length - same - from }];
}
