import type { Touch } from "./contract/origin.ts";

/** Calls that touch one place, each with whether it writes. */
type Touching<Call> = Map<Call, boolean>;

/** Calls at one place. Each map is made for its first call, since few places need both. */
interface CallsAt<Call> {
  /** Calls that touch this place with everything below it. */
  here?: Touching<Call>;
  /** Calls that touch some of the places below this one. */
  below?: Touching<Call>;
}

/**
 * The parts of the tree that calls touch. Costs grow with the depth of a path, not with the number of calls.
 */
export class TouchedPaths<Call> {
  readonly #places = new Map<string, CallsAt<Call>>();

  /**
   * Returns the calls that touch one of these parts, or something in or around it, if one of the two writes.
   */
  blockers(touches: readonly Touch[]): Set<Call> {
    const found = new Set<Call>();
    const collect = (touching: Touching<Call> | undefined, writes: boolean) => {
      if (touching === undefined) return;
      for (const [call, alsoWrites] of touching) if (writes || alsoWrites) found.add(call);
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
        const part = one === path ? "here" : "below";
        place[part] ??= new Map();
        if (place[part].get(call) !== true) place[part].set(call, writes);
      }
  }

  remove(call: Call, touches: readonly Touch[]): void {
    for (const { path } of touches)
      for (const one of upwards(path)) {
        const place = this.#places.get(one);
        if (place === undefined) continue;
        place.here?.delete(call);
        place.below?.delete(call);
        if (!place.here?.size && !place.below?.size) this.#places.delete(one);
      }
  }

  #placeOf(path: string): CallsAt<Call> {
    const known = this.#places.get(path);
    if (known !== undefined) return known;
    const place: CallsAt<Call> = {};
    this.#places.set(path, place);
    return place;
  }
}

/** Generates the path, and those of all folders above it up to "". */
function* upwards(path: string): Generator<string> {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("/")))) yield rest;
  yield "";
}
