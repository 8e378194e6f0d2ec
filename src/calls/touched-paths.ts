import type { Touch } from "./contract/origin.ts";

/** Calls that touch one place: those that read, and those that write. */
class Touching<Call> {
  readonly readers = new Set<Call>();
  readonly writers = new Set<Call>();

  get isEmpty(): boolean {
    return this.readers.size === 0 && this.writers.size === 0;
  }

  add(call: Call, writes: boolean): void {
    (writes ? this.writers : this.readers).add(call);
  }

  remove(call: Call): void {
    this.readers.delete(call);
    this.writers.delete(call);
  }
}

interface Place<Call> {
  /** Calls that touch this place with everything below it. */
  readonly here: Touching<Call>;
  /** Calls that touch some of the places below this one. */
  readonly below: Touching<Call>;
}

/**
 * The parts of the tree that calls touch. Costs grow with the depth of a path, not with the number of calls.
 */
export class TouchedPaths<Call> {
  readonly #places = new Map<string, Place<Call>>();

  /**
   * Returns the calls that touch one of these parts, or something in or around it, if one of the two writes.
   */
  blockers(touches: readonly Touch[]): Set<Call> {
    const found = new Set<Call>();
    const collect = ({ readers, writers }: Touching<Call>, writes: boolean) => {
      for (const call of writers) found.add(call);
      if (writes) for (const call of readers) found.add(call);
    };
    for (const { path, writes } of touches)
      for (const one of upwards(path)) {
        const place = this.#places.get(one);
        if (place === undefined) continue;
        collect(place.here, writes);
        if (one === path) collect(place.below, writes);
      }
    return found;
  }

  add(call: Call, touches: readonly Touch[]): void {
    for (const { path, writes } of touches)
      for (const one of upwards(path)) {
        const place = this.#placeOf(one);
        (one === path ? place.here : place.below).add(call, writes);
      }
  }

  remove(call: Call, touches: readonly Touch[]): void {
    for (const { path } of touches)
      for (const one of upwards(path)) {
        const place = this.#places.get(one);
        if (place === undefined) continue;
        place.here.remove(call);
        place.below.remove(call);
        if (place.here.isEmpty && place.below.isEmpty) this.#places.delete(one);
      }
  }

  #placeOf(path: string): Place<Call> {
    const known = this.#places.get(path);
    if (known !== undefined) return known;
    const place = { here: new Touching<Call>(), below: new Touching<Call>() };
    this.#places.set(path, place);
    return place;
  }
}

/** Generates the path, and those of all folders above it up to "". */
function* upwards(path: string): Generator<string> {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("/")))) yield rest;
  yield "";
}
