/** The steps of the changes that remain, with the paths that entries have if nothing else is changed. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";
import {
  recordedStateOf,
  type TracedChange,
  type TracedEntry,
  type TracedEvent,
  type TracedPlace,
  type TracedSteps,
  type TracedVersion,
} from "./traced-steps.ts";

/** Thrown with the entries whose changes cannot be left out, since remaining ones need them. */
export class Entangled extends Error {
  override readonly name = "Entangled";
  readonly entries: readonly TracedEntry[];

  constructor(...entries: readonly TracedEntry[]) {
    super("changes of entries are needed by others");
    this.entries = entries;
  }
}

/** A change that others still prevent: a name is taken, or a folder is not there yet, or not empty. */
interface Waiting {
  readonly change: TracedChange;
  now: TracedVersion;
}

/** Maximum entries that wait at once. */
const maxWaiting = 64;

/** Events that are passed without a pause. */
const atOnce = 128;

const absent = { state: { kind: "absent" } } as const;

export class RemainingSteps {
  readonly #traced: TracedSteps;
  /** The places of the entries that are there. */
  readonly #places = new Map<TracedEntry, TracedPlace>();
  /** The entries in each folder. */
  readonly #inside = new Map<TracedEntry, Map<string, TracedEntry>>();
  readonly #waiting = new Map<TracedEntry, Waiting>();
  readonly #steps: RecordedStep[] = [];

  constructor(traced: TracedSteps) {
    this.#traced = traced;
  }

  /** Returns the steps, in order. Throws an `Entangled` error if these changes alone cannot be made. */
  *list(): Steps<readonly RecordedStep[]> {
    let initial = 0;
    for (const entry of this.#traced.initial) {
      this.#enter(entry, entry.versions[0]!.place!);
      if (++initial % atOnce === 0) yield;
    }
    for (const [index, event] of this.#traced.events.entries()) {
      this.#pass(event);
      if (index % atOnce === atOnce - 1) yield;
    }
    if (this.#waiting.size > 0) throw new Entangled(...this.#stuck());
    return this.#steps;
  }

  #pass(event: TracedEvent): void {
    if (event.kind === "found") this.#find(event.entry);
    else if (event.kind === "lost") this.#lose(event.entry);
    else if (event.kind === "unavailable") {
      const { step, at, from } = event;
      const path = this.#pathOf(at);
      this.#steps.push({ ...step, path, ...(from !== undefined && { from: this.#pathOf(from) }) });
    } else if (!event.isTakenBack) this.#change(event);
  }

  #find(entry: TracedEntry): void {
    const { folder, name } = entry.versions[0]!.place!;
    if (!this.#isThere(folder)) throw new Entangled(folder);
    const other = this.#insideOf(folder).get(name);
    if (other !== undefined) throw new Entangled(other);
    this.#enter(entry, { folder, name });
    this.#makeWaiting();
  }

  #lose(entry: TracedEntry): void {
    this.#waiting.delete(entry);
    this.#leave(entry);
    this.#makeWaiting();
  }

  #change(change: TracedChange): void {
    const { entry, to, from } = change;
    const isInPlace = to.place?.folder === from.place?.folder && to.place?.name === from.place?.name;
    const waiting = this.#waiting.get(entry);
    if (isInPlace) {
      if (waiting !== undefined) waiting.now = to;
      if (this.#places.has(entry)) this.#changeInPlace(change);
      return;
    }
    this.#waiting.set(entry, { change, now: to });
    this.#makeWaiting();
    if (this.#waiting.size > maxWaiting) throw new Entangled(...this.#stuck());
  }

  /** Returns the entries that wait, and those that they wait for. */
  #stuck(): TracedEntry[] {
    return [...this.#waiting].flatMap(([entry, { change }]) => [entry, this.#obstacleTo(change) ?? entry]);
  }

  /** Returns an entry in the way of a change, or the folder that is not there yet. */
  #obstacleTo({ entry, to }: TracedChange): TracedEntry | undefined {
    if (to.place === undefined) return this.#insideOf(entry).values().next().value;
    const { folder, name } = to.place;
    if (!this.#isThere(folder)) return folder;
    for (let above: TracedEntry | undefined = folder; above; above = this.#places.get(above)?.folder)
      if (above === entry) return folder;
    return this.#insideOf(folder).get(name);
  }

  /** Makes the waiting changes that nothing prevents. */
  #makeWaiting(): void {
    for (let isMore = this.#waiting.size > 0; isMore; ) {
      isMore = false;
      for (const [entry, waiting] of this.#waiting) {
        if (this.#obstacleTo(waiting.change) !== undefined) continue;
        this.#waiting.delete(entry);
        if (waiting.now.place === undefined) this.#remove(waiting.change);
        else this.#settle(waiting);
        isMore = true;
      }
    }
  }

  /** Gives an entry its name. */
  #settle({ change, now }: Waiting): void {
    const { entry, step, to } = change;
    const was = this.#places.get(entry);
    const from = was && this.#pathOf(was);
    this.#leave(entry);
    this.#enter(entry, to.place!);
    const path = this.#pathOf(to.place!);
    const isAsLeft = now === to && step.kind !== "chmod";
    const after = isAsLeft ? step.after : { state: this.#stateOf(now, entry) };
    if (from !== undefined) this.#move(change, { from, path, after });
    else this.#create(change, { path, after });
  }

  #create({ step }: TracedChange, { path, after }: Pick<RecordedStep, "path" | "after">): void {
    const last = this.#steps.at(-1);
    if (isOfOneStep(last, step) && last.kind === "remove" && last.path === path) {
      this.#steps.pop();
      this.#steps.push({ ...last, kind: "place", after });
    } else if (step.kind === "place" && step.path === path && after === step.after && isAbsent(step.before))
      this.#steps.push(step);
    else this.#steps.push({ ...withoutFrom(step), kind: "place", path, before: absent, after });
  }

  #move(
    { step }: TracedChange,
    { from, path, after }: Pick<RecordedStep, "path" | "after"> & { from: string },
  ): void {
    const isAsRecorded = step.kind === "rename" && step.from === from && step.path === path;
    const last = this.#steps.at(-1);
    // The step has removed the entry that had the name.
    const isReplacing =
      last?.kind === "remove" && last.path === path && last.before.state === step.before.state;
    if (isAsRecorded && isReplacing && after === step.after) {
      this.#steps.pop();
      this.#steps.push(step);
    } else this.#steps.push({ ...step, kind: "rename", path, from, before: absent, after });
  }

  #remove(change: TracedChange): void {
    const { entry, step, replaced } = change;
    const place = this.#places.get(entry);
    if (place === undefined) return;
    const path = this.#pathOf(place);
    this.#leave(entry);
    if (step.kind === "remove" && step.path === path && (replaced === undefined || replaced.step === step))
      this.#steps.push(step);
    else this.#steps.push({ ...this.#replacing(change), kind: "remove", path, after: absent });
  }

  #changeInPlace(change: TracedChange): void {
    const { entry, kind, step, from, to, replaced } = change;
    const path = this.#pathOf(this.#places.get(entry)!);
    if (step.kind === "chmod") this.#steps.push({ ...step, path });
    else if (kind === "mode") {
      const [before, after] = [from, to].map((version) => ({ state: modeStateOf(version) }));
      this.#steps.push({ ...withoutFrom(step), kind: "chmod", path, before: before!, after: after! });
    } else if (step.kind === "place" && step.path === path && replaced?.step === step) this.#steps.push(step);
    else this.#steps.push({ ...this.#replacing(change), kind: "place", path });
  }

  /** Returns a step with the state that a change replaces, and the place of its content. */
  #replacing({ entry, from, step, replaced }: TracedChange): RecordedStep {
    const { state, step: keeper } = replaced ?? this.#replacedElsewhere(from, entry);
    const { segment, record, contentsAt } = keeper ?? step;
    return { ...withoutFrom(step), before: { state }, segment, record, contentsAt };
  }

  /** Returns a state with the content that another step has kept, if it has one. */
  #replacedElsewhere(
    version: TracedVersion,
    entry: TracedEntry,
  ): { readonly state: RecordedState; readonly step?: RecordedStep } {
    const state = this.#stateOf(version, entry);
    if (state.kind !== "file") return { state };
    const kept = this.#traced.replaced.get(state.revision);
    if (kept?.state.kind !== "file") throw new Entangled(entry);
    return { state: { ...kept.state, mode: state.mode }, step: kept.step };
  }

  #stateOf(version: TracedVersion, entry: TracedEntry): RecordedState {
    if (version.place === undefined) return absent.state;
    const state = recordedStateOf(version);
    if (state === undefined) throw new Entangled(entry);
    return state;
  }

  #pathOf({ folder, name }: TracedPlace): string {
    let path = name;
    for (let at = folder; at !== this.#traced.root; ) {
      const place = this.#places.get(at);
      if (place === undefined) throw new Entangled(at);
      path = `${place.name}/${path}`;
      at = place.folder;
    }
    return path;
  }

  #isThere(folder: TracedEntry): boolean {
    return folder === this.#traced.root || this.#places.has(folder);
  }

  #insideOf(folder: TracedEntry): Map<string, TracedEntry> {
    const known = this.#inside.get(folder);
    if (known !== undefined) return known;
    const inside = new Map<string, TracedEntry>();
    this.#inside.set(folder, inside);
    return inside;
  }

  #enter(entry: TracedEntry, place: TracedPlace): void {
    this.#places.set(entry, place);
    this.#insideOf(place.folder).set(place.name, entry);
  }

  #leave(entry: TracedEntry): void {
    const place = this.#places.get(entry);
    if (place === undefined) return;
    this.#places.delete(entry);
    this.#insideOf(place.folder).delete(place.name);
  }
}

const isOfOneStep = (one: RecordedStep | undefined, other: RecordedStep): one is RecordedStep =>
  one?.at === other.at && one.part === other.part;

const isAbsent = ({ state }: RecordedStep["before"]): boolean => state.kind === "absent";

const withoutFrom = ({ from: _, ...step }: RecordedStep): RecordedStep => step;

/** Returns the state that a change of mode records, which the content does not belong to. */
const modeStateOf = ({ kind, mode }: TracedVersion): RecordedState =>
  kind === "file" ? { kind, mode: mode.value!, revision: "" } : { kind: "dir", mode: mode.value };
