/** Follows the changes of each op through all later ops. */
import { commonEnd, commonStart } from "./common-ends.ts";
import { maxSites, type Site } from "./echo.ts";
import type { Edited } from "./line-ops.ts";
import { composeSplices, regionAfter, type Splice } from "./splices.ts";

/** The changes of one op on the whole text. */
export interface TextEdit {
  /** The op, by its place in the caller's list, from 0. */
  readonly index: number;
  /** The splices, in bytes of the text before the op. */
  readonly splices: readonly Splice[];
  /** The number of matches replaced. */
  readonly replacements: number;
}

/** Maximum places that are followed, since there is no room for more echoes. */
const maxFollowed = 200;

export class EditTrace {
  #splices: readonly Splice[];
  #sites: readonly Site[];

  /** Begins with the changes of the line ops. */
  constructor({ splices, regions }: Pick<Edited, "splices" | "regions">) {
    this.#splices = composeSplices([], splices);
    this.#sites = firstByOp(regions);
  }

  /** The changes from the file before all ops to the file after them. */
  get splices(): readonly Splice[] {
    return this.#splices;
  }

  /**
   * The places where each op changed the file, in bytes of the file after all ops. For an op with many
   * matches, only the first few.
   */
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
  sites.length <= maxFollowed ? sites : sites.toSorted((a, b) => a.index - b.index).slice(0, maxFollowed);

function sitesOf({ index, splices, replacements }: TextEdit): Site[] {
  if (replacements === 0) return [{ index, from: 0, to: 0, replacements }];
  let added = 0;
  return splices.slice(0, maxSites).map(({ from, to, length }) => {
    const start = from + added;
    added += length - (to - from);
    return { index, from: start, to: start + length, replacements };
  });
}

/** Returns the one splice between two texts: everything except their common beginning and end. */
export function spliceBetween(before: Buffer, after: Buffer): Splice[] {
  const from = commonStart(before, after);
  if (from === before.length && from === after.length) return [];
  const same = commonEnd(before.subarray(from), after.subarray(from));
  return [{ from, to: before.length - same, length: after.length - same - from }];
}
