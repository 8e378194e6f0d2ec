/**
 * Follows the entries that recorded steps change, under all their names, and leaves out the changes that take
 * each other back.
 */
import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";

/** A fact about an entry, without a value if no step has recorded it. Versions that share it agree in it. */
interface Fact<T> {
  value?: T | undefined;
}

/** A name in a folder, whatever path that has at the time. */
export interface TracedPlace {
  readonly folder: TracedEntry;
  readonly name: string;
}

/**
 * The state of an entry between two of its changes. It has no place before it is made and once it is gone.
 */
export interface TracedVersion {
  readonly place: TracedPlace | undefined;
  readonly kind: RecordedState["kind"];
  readonly mode: Fact<number>;
  /** The revision or the identity of a file, or the text of a link. */
  readonly content: Fact<string>;
}

/** A state that a step replaced, and the step whose frame has the content. */
export interface ReplacedState {
  readonly state: RecordedState;
  readonly step: RecordedStep;
}

/** A change of one entry by a step, which may change another entry as well. */
export interface TracedChange {
  readonly kind: "place" | "remove" | "move" | "mode";
  readonly entry: TracedEntry;
  readonly from: TracedVersion;
  readonly to: TracedVersion;
  readonly step: RecordedStep;
  /** Present if the journal has the state before the change for this very entry. */
  readonly replaced?: ReplacedState | undefined;
  /** Its index among the events. */
  readonly index: number;
  /** Whether other changes have taken it back. */
  isTakenBack: boolean;
}

type NewChange = Pick<TracedChange, "kind" | "to" | "replaced">;

/**
 * A change, or an entry that turns out to be there or gone by another cause, or a step that cannot be undone.
 */
export type TracedEvent =
  | TracedChange
  | { readonly kind: "found"; readonly entry: TracedEntry }
  | { readonly kind: "lost"; readonly entry: TracedEntry }
  | {
      readonly kind: "unavailable";
      readonly step: RecordedStep;
      readonly at: TracedPlace;
      readonly from: TracedPlace | undefined;
    };

/** Maximum versions of an entry, besides the first, that are searched for one that a change brings back. */
const maxSearched = 64;

/** An entry under all its names. */
export class TracedEntry {
  /** The step that met it first, and its path then. */
  readonly id: string;
  /** The entries that are in this folder now. */
  readonly inside = new Map<string, TracedEntry>();
  /** The names in this folder that steps have met. */
  readonly met = new Set<string>();
  /** The entries that had a name in this folder first. */
  readonly first = new Map<string, TracedEntry>();
  readonly versions: TracedVersion[];
  /** The changes between its versions. */
  readonly changes: TracedChange[] = [];

  constructor(id: string, version: TracedVersion) {
    this.id = id;
    this.versions = [version];
  }

  get version(): TracedVersion {
    return this.versions.at(-1)!;
  }

  /** Returns the index of a version that is like this one, or -1. */
  indexOf(version: TracedVersion): number {
    const { length } = this.versions;
    if (areAlike(this.versions[0]!, version)) return 0;
    for (let at = Math.max(1, length - maxSearched); at < length; at++)
      if (areAlike(this.versions[at]!, version)) return at;
    return -1;
  }

  /** Returns the index of the last version before the present one that differs in its mode alone, or -1. */
  indexOfOtherMode(version: TracedVersion): number {
    const present = this.versions.length - 1;
    for (let at = present - 1; at >= Math.max(0, present - maxSearched); at--)
      if (differInMode(this.versions[at]!, version)) return at;
    return -1;
  }
}

const nothing: TracedVersion = { place: undefined, kind: "absent", mode: {}, content: {} };

/** The entries that steps change, which are added in the order of time. */
export class TracedSteps {
  readonly root = new TracedEntry("", { ...nothing, kind: "dir" });
  /** The entries that were there before all steps, each folder before those in it. */
  readonly initial = new Set<TracedEntry>();
  /** The changes and discoveries, in the order of time. */
  readonly events: TracedEvent[] = [];
  /** The replaced states of files with their contents, by these. */
  readonly replaced = new Map<string, ReplacedState>();
  readonly #entangled: ReadonlySet<string>;
  #isReduced = false;
  #step!: RecordedStep;
  #count = 0;

  /** `entangled` has the ids of entries whose changes all remain. */
  constructor(entangled: ReadonlySet<string>) {
    this.#entangled = entangled;
  }

  /** Whether changes were left out or put together. */
  get isReduced(): boolean {
    return this.#isReduced;
  }

  add(step: RecordedStep): void {
    this.#step = step;
    this.#count++;
    const { kind, path, from, before, after, unavailable } = step;
    const at = this.#placeOf(path);
    if (unavailable !== undefined) this.#lose(at, from);
    else if (kind === "rename") this.#rename(this.#placeOf(from!), at);
    else {
      const entry = this.#meet(at, before.state);
      if (kind === "place") this.#place(at, entry);
      else if (entry !== undefined && kind === "remove") this.#remove(entry);
      else if (entry !== undefined) {
        const to = { ...entry.version, mode: { value: modeOf(after.state) } };
        this.#change(entry, "mode", to);
      }
    }
  }

  #lose(at: TracedPlace, fromPath: string | undefined): void {
    const from = fromPath === undefined ? undefined : this.#placeOf(fromPath);
    for (const place of [at, ...(from === undefined ? [] : [from])]) {
      const entry = place.folder.inside.get(place.name);
      if (entry !== undefined) this.#miss(entry);
      place.folder.first.delete(place.name);
      place.folder.met.add(place.name);
    }
    this.events.push({ kind: "unavailable", step: this.#step, at, from });
  }

  #place(at: TracedPlace, replaced: TracedEntry | undefined): void {
    const { state } = this.#step.after;
    const gone = this.#goneFrom(at);
    if (replaced === undefined) {
      const place = gone === undefined ? this.#placeAfterReturn(at, state, undefined) : at;
      this.#change(gone ?? this.#newEntry(at.name, nothing), "place", versionOf(state, place!));
    } else if (gone !== undefined && this.#placeAfterReturn(at, state, replaced) === undefined)
      this.#change(replaced, "remove", nothing);
    else this.#change(replaced, "place", versionOf(state, at));
  }

  #rename(from: TracedPlace, to: TracedPlace): void {
    const { before, after } = this.#step;
    const entry = this.#meet(from, after.state);
    const replaced = this.#meet(to, before.state);
    if (entry === undefined) return;
    if (replaced !== undefined) this.#remove(replaced);
    const gone = this.#goneFrom(to);
    if (gone !== undefined && this.#isNew(entry)) {
      this.#change(entry, "remove", nothing);
      this.#change(gone, "place", versionOf(after.state, to));
      return;
    }
    const place = this.#placeAfterReturn(to, after.state, entry);
    if (place === undefined) this.#change(entry, "remove", nothing);
    else this.#change(entry, "move", { ...entry.version, place });
  }

  /** Returns the entry that had a name first, if it is gone and may come back. */
  #goneFrom({ folder, name }: TracedPlace): TracedEntry | undefined {
    const first = folder.first.get(name);
    return first?.version.place === undefined ? first : undefined;
  }

  /** Returns whether an entry is a file or a link that the call has made. */
  #isNew({ id, version, versions, changes }: TracedEntry): boolean {
    const isMade = versions.length === 2 && versions[0]!.place === undefined && version.kind !== "dir";
    return isMade && changes[0]!.step.seq === this.#step.seq && !this.#entangled.has(id);
  }

  #remove(entry: TracedEntry): void {
    for (const inside of entry.inside.values()) this.#miss(inside);
    this.#change(entry, "remove", nothing);
  }

  /**
   * Returns the place that an entry takes when it gets a name. If it is like the first entry of that name,
   * that one counts as having come back, and the new one takes its place instead, or none if it was gone.
   */
  #placeAfterReturn(
    to: TracedPlace,
    state: RecordedState,
    entry: TracedEntry | undefined,
  ): TracedPlace | undefined {
    const first = to.folder.first.get(to.name);
    if (first === undefined || first === entry || this.#entangled.has(first.id)) return to;
    const [version] = first.versions as [TracedVersion];
    const { place } = first.version;
    if (!isKnownAs(version, state) || (place !== undefined && !isKnownAs(first.version, state))) return to;
    this.#leave(first);
    this.#takeBackTo(first, 0);
    this.#enter(first);
    return place;
  }

  #change(entry: TracedEntry, kind: TracedChange["kind"], to: TracedVersion): void {
    this.#leave(entry);
    this.#addChange(entry, { kind, to, replaced: this.#replacedBy(kind, entry) });
    this.#enter(entry);
  }

  /** Returns the state of an entry that the step replaces, if its frame has that. */
  #replacedBy(kind: TracedChange["kind"], { version }: TracedEntry): ReplacedState | undefined {
    const { state } = this.#step.before;
    const isOwn = (kind === "place" || kind === "remove") && fits(version, state);
    if (!isOwn) return undefined;
    const replaced = { state, step: this.#step };
    if (state.kind === "file" && state.content !== undefined) this.replaced.set(contentOf(state)!, replaced);
    return replaced;
  }

  /** Adds a change, or leaves out those that it takes back. */
  #addChange(entry: TracedEntry, change: NewChange): void {
    const { kind, to } = change;
    const isWhole = this.#entangled.has(entry.id);
    const same = isWhole ? -1 : entry.indexOf(to);
    const alike = isWhole || kind === "remove" ? -1 : entry.indexOfOtherMode(to);
    const last = isWhole ? undefined : entry.changes.at(-1);
    const together = last?.step.seq === this.#step.seq ? kindTogether(last, change) : undefined;
    if (same >= 0) this.#takeBackTo(entry, same);
    else if (alike >= 0 && kind !== "mode") {
      this.#takeBackTo(entry, alike);
      this.#push(entry, { kind: "mode", to, replaced: undefined });
    } else if (together !== undefined) {
      this.#takeBackTo(entry, entry.versions.length - 2);
      const isOfLast = together === "place" || last!.kind !== "move";
      const replaced = isOfLast ? last!.replaced : change.replaced;
      this.#push(entry, { kind: together, to, replaced }, last!.index);
    } else this.#push(entry, change);
  }

  /** Adds a change, by default as the last event. */
  #push(entry: TracedEntry, change: NewChange, index = this.events.length): void {
    const made = { ...change, entry, from: entry.version, step: this.#step, index, isTakenBack: false };
    entry.versions.push(made.to);
    entry.changes.push(made);
    this.events[index] = made;
  }

  /** Leaves out the changes after a version. */
  #takeBackTo(entry: TracedEntry, index: number): void {
    entry.versions.length = index + 1;
    for (const change of entry.changes.splice(index)) change.isTakenBack = true;
    this.#isReduced = true;
  }

  /** Returns the entry at a place before the step, which has recorded its state. */
  #meet(place: TracedPlace, state: RecordedState): TracedEntry | undefined {
    const { folder, name } = place;
    const known = folder.inside.get(name);
    const isNew = !folder.met.has(name);
    folder.met.add(name);
    if (known !== undefined && fits(known.version, state)) {
      known.version.mode.value ??= modeOf(state);
      known.version.content.value ??= contentOf(state);
      return known;
    }
    if (known !== undefined) this.#miss(known);
    if (known !== undefined || state.kind !== "absent") folder.first.delete(name);
    return state.kind === "absent" ? undefined : this.#find(place, state, isNew);
  }

  /** Adds an entry that was at a place before the steps, or that another program has put there. */
  #find(place: TracedPlace, state: RecordedState, isNew: boolean): TracedEntry {
    const entry = this.#newEntry(place.name, versionOf(state, place));
    place.folder.first.set(place.name, entry);
    this.#enter(entry);
    if (isNew && (place.folder === this.root || this.initial.has(place.folder))) this.initial.add(entry);
    else this.events.push({ kind: "found", entry });
    return entry;
  }

  /** Notes that another program has taken an entry away or changed it. */
  #miss(entry: TracedEntry): void {
    this.#leave(entry);
    const first = entry.versions[0]!.place;
    if (first?.folder.first.get(first.name) === entry) first.folder.first.delete(first.name);
    this.events.push({ kind: "lost", entry });
  }

  #newEntry(name: string, version: TracedVersion): TracedEntry {
    return new TracedEntry(`${this.#count} ${this.#step.path} ${name}`, version);
  }

  #leave(entry: TracedEntry): void {
    const { place } = entry.version;
    if (place?.folder.inside.get(place.name) === entry) place.folder.inside.delete(place.name);
  }

  #enter(entry: TracedEntry): void {
    const { place } = entry.version;
    place?.folder.inside.set(place.name, entry);
  }

  #placeOf(path: string): TracedPlace {
    const names = path.split("/");
    const name = names.pop()!;
    let folder = this.root;
    for (const one of names) {
      const known = folder.inside.get(one);
      const isFolder = known?.version.kind === "dir";
      folder = isFolder ? known : this.#meet({ folder, name: one }, { kind: "dir" })!;
    }
    return { folder, name };
  }
}

/**
 * Returns the kind of change that two consecutive ones of an entry by one call make together, or `undefined`
 * if both remain.
 */
function kindTogether(
  { kind: first, from, to: between }: TracedChange,
  { kind, to }: Pick<TracedChange, "kind" | "to">,
): TracedChange["kind"] | undefined {
  const isNew = first === "place" && from.place === undefined;
  if (kind === "move") return isNew ? "place" : first === "move" ? "move" : undefined;
  if (first === "move") return kind === "remove" ? "remove" : undefined;
  if ([from, between, to].some((version) => version.kind === "dir")) return undefined;
  if (kind === "mode") return isNew ? "place" : undefined;
  const [place, ...others] = [from, between, to].flatMap((version) => version.place ?? []);
  const isStill = first !== "mode" && others.every((other) => isSamePlace(place, other));
  return isStill ? kind : undefined;
}

const versionOf = (state: RecordedState, place: TracedPlace): TracedVersion => ({
  place,
  kind: state.kind,
  mode: { value: modeOf(state) },
  content: { value: contentOf(state) },
});

const modeOf = (state: RecordedState): number | undefined => ("mode" in state ? state.mode : undefined);

/** Returns the content of a file or link, or the identity of an entry whose content was not read. */
function contentOf(state: RecordedState): string | undefined {
  if (state.kind === "symlink") return state.text;
  if (state.kind === "file" && state.revision !== "") return state.revision;
  return "identity" in state && state.identity !== undefined ? `${identityMark}${state.identity}` : undefined;
}

/** Marks a content as an identity: no revision begins with it. */
const identityMark = "=";

/** Returns whether an entry may have the recorded state. */
function fits({ kind, mode, content }: TracedVersion, state: RecordedState): boolean {
  const agrees = <T>({ value }: Fact<T>, other: T | undefined) =>
    value === undefined || other === undefined || value === other;
  return kind === state.kind && agrees(mode, modeOf(state)) && agrees(content, contentOf(state));
}

/** Returns whether a file or link certainly has the recorded state. */
function isKnownAs(version: TracedVersion, state: RecordedState): boolean {
  const isLeaf = state.kind === "file" || state.kind === "symlink";
  return isLeaf && areAlikeAnywhere(version, versionOf(state, version.place!));
}

const isSamePlace = (one: TracedPlace | undefined, other: TracedPlace | undefined): boolean =>
  one?.folder === other?.folder && one?.name === other?.name;

const isSame = <T>(one: Fact<T>, other: Fact<T>): boolean =>
  one === other || (one.value !== undefined && one.value === other.value);

function areAlikeAnywhere(one: TracedVersion, other: TracedVersion): boolean {
  if (one.kind !== other.kind) return false;
  const hasMode = one.kind === "file" || one.kind === "dir";
  const hasContent = one.kind !== "dir" && one.kind !== "absent";
  return (!hasMode || isSame(one.mode, other.mode)) && (!hasContent || isSame(one.content, other.content));
}

const areAlike = (one: TracedVersion, other: TracedVersion): boolean =>
  isSamePlace(one.place, other.place) && areAlikeAnywhere(one, other);

/**
 * The bits that run a program with the rights of its owner or group, which a change of mode cannot give back.
 */
const setIds = 0o6000;

function differInMode(one: TracedVersion, other: TracedVersion): boolean {
  if (!isSamePlace(one.place, other.place) || one.kind !== other.kind) return false;
  if (one.kind === "dir") return true;
  const bits = [one, other].map(({ mode: { value } }) => value);
  const areKnown = bits.every((value) => value !== undefined);
  return (
    one.kind === "file" &&
    isSame(one.content, other.content) &&
    areKnown &&
    (bits[0]! & setIds) === (bits[1]! & setIds)
  );
}

/** Returns the recorded form of a version, or `undefined` if the steps have not recorded all of it. */
export function recordedStateOf({ kind, mode, content }: TracedVersion): RecordedState | undefined {
  const { value } = content;
  if (kind === "dir") return { kind, mode: mode.value };
  if (kind === "symlink") return value === undefined ? undefined : { kind, text: value };
  if (value === undefined || (kind === "file" && mode.value === undefined)) return undefined;
  const identity = value.startsWith(identityMark) ? value.slice(identityMark.length) : undefined;
  if (kind === "other") return { kind, ...(identity !== undefined && { identity }) };
  if (kind !== "file") return undefined;
  const known = identity === undefined ? { revision: value } : { revision: "", identity };
  return { kind, mode: mode.value!, ...known };
}
