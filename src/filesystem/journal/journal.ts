/**
 * The journal: everything that changes of the tree remove, so that it can be restored. A listener of
 * `filesystem/disk` writes a frame before each step is done (write-ahead). It never fails a call: if it
 * cannot be written, the log says so, and the record says that the step cannot be undone.
 */

import { closeSync, fstatSync } from "node:fs";
import type { Log } from "../../base/log/log.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { hashFileAhead, largestHashed } from "../disk/hash-ahead.ts";
import type {
  HeldEntry,
  Mutation,
  MutationListener,
  MutationOutcome,
  Requester,
  StepEntries,
} from "../disk/mutation.ts";
import { isLarge, revisionInSteps } from "../files/revision.ts";
import { errnoOf } from "../jail/errno.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { AheadCopies, type AheadCopy } from "./ahead-copies.ts";
import {
  type ContentKeeper,
  frameOf,
  type KeptBlob,
  lostFrame,
  type ReadTrees,
  readPlaced,
  readRemoved,
  Unavailable,
} from "./capture.ts";
import { ForeseenLosses } from "./foreseen-losses.ts";
import {
  type ContentLocation,
  type EncodedFrame,
  encodeFrame,
  type FrameContents,
  type Loss,
  type RecordedTree,
  type RecordHead,
  type StepFrame,
} from "./frame.ts";
import { callOf, isHidden, isStep, isTransaction, LostChanges } from "./lost-changes.ts";
import type { ContentName } from "./segment-folder.ts";
import { type JournalBounds, type RecordLocation, Segments } from "./segments.ts";

export interface JournalOptions {
  readonly state: StateFolder;
  readonly bounds: JournalBounds;
  readonly log: Log;
}

/** A record that is being written. */
interface OpenRecord {
  readonly place: RecordLocation;
  /** The number of the record, once it has begun. */
  seq: number | undefined;
  /** The number of its step frames. */
  frames: number;
  /** The indexes of its step frames that were not done after all. */
  readonly notDone: Set<number>;
  /** The indexes of the step frames of folders that it made, by path. */
  readonly madeFolders: Map<string, number>;
  /** Whether no further step of it can be kept, or even be listed as lost. */
  isFull: boolean;
}

/** A record that receives a frame, and its head if that is the first. */
interface Writing {
  readonly record: OpenRecord;
  readonly head: RecordHead | undefined;
  /** The contents that the trees of the step name, if those were read in slices. */
  readonly contents?: Contents | undefined;
}

/** A step, the origin of the entry that it renames, and the trees that were read in slices. */
interface Step {
  readonly mutation: Mutation;
  readonly from?: string | undefined;
  readonly read?: ReadTrees | undefined;
}

/** A folder that a step removes, as read in slices, and the place of its frame. */
interface ReadFolder {
  /** The record of the requester, if it has begun. */
  readonly known: OpenRecord | undefined;
  readonly place: RecordLocation;
  readonly contents: Contents;
  readonly before: () => RecordedTree;
}

/** The time since an error of writing. */
interface Failure {
  readonly reason: string;
  /** The number of lost changes before it. */
  readonly lostBefore: number;
}

/** A step that is under way, or a transaction. */
interface Begun {
  readonly record: OpenRecord;
  readonly frames: number[];
}

export class Journal implements MutationListener {
  readonly state: StateFolder;
  readonly log: Log;
  readonly #segments: Segments;
  readonly #copies: AheadCopies;
  readonly #records = new WeakMap<object, OpenRecord>();
  readonly #begun = new WeakMap<Mutation, Begun>();
  /** The origins of entries that have temporary names, by transaction. */
  readonly #origins = new WeakMap<Mutation, Map<string, string>>();
  /** The changes that cannot be undone. */
  readonly lost = new LostChanges();
  /** Folders that were read before the step that places them. */
  readonly #placed = new WeakMap<StepEntries, () => RecordedTree>();
  /** Folders that were read before the step that removes them. */
  readonly #removed = new WeakMap<StepEntries, ReadFolder>();
  /** Steps that set a folder aside, whose frames are written when it has been read. */
  readonly #aside = new WeakMap<StepEntries, Mutation & { readonly requester: Requester }>();
  /** The time of the newest step. */
  #newest = 0;
  #failure: Failure | undefined;
  #catchingUp: Promise<void> | undefined;

  constructor({ state, bounds, log }: JournalOptions) {
    this.state = state;
    this.log = log;
    this.#segments = new Segments({ state, bounds, log });
    this.#copies = new AheadCopies(state);
  }

  /** Returns the bytes on disk known to this worker. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Returns the number of this call's record, or `undefined` if the call has changed nothing so far. */
  checkpointOf(requester: Requester): number | undefined {
    const record = this.#records.get(callOf(requester));
    return record === undefined || record.frames <= record.notDone.size ? undefined : record.seq;
  }

  /** Returns the number of steps of this call so far that cannot be undone. */
  lossesOf(requester: Requester): number {
    return this.lost.of(requester);
  }

  /** Returns a forecast for the removals of a call that has changed nothing so far. */
  forecast(): ForeseenLosses {
    return new ForeseenLosses(this.#segments.roomOfRecord - roomToSayLost);
  }

  /** Returns the reason why the journal could not be written last, if so. */
  get failure(): string | undefined {
    return this.#failure?.reason;
  }

  /**
   * Reads the records that other workers have written, in slices, so that the next step need not wait for it.
   * Returns `undefined` if there is hardly anything to read. Never rejects.
   */
  catchUp(): Promise<void> | undefined {
    if (this.#catchingUp === undefined && !this.#segments.isCaughtUp)
      this.#catchingUp = runInSlices(this.#segments.catchUp(), createTimeSlice())
        // A step will meet and report any error.
        .catch(() => {})
        .finally(() => {
          this.#catchingUp = undefined;
        });
    return this.#catchingUp;
  }

  before(mutation: Mutation): void {
    const { requester, path, entries } = mutation;
    if (requester === undefined || !isStep(mutation)) return;
    const from = this.#originOf(mutation);
    if (isHidden(path) || isHidden(from ?? "")) return;
    // Its frame is taken back instead, since an undo of both would do nothing.
    if (this.#makingOf(mutation) !== undefined) return;
    if (entries?.aside !== undefined && isTransaction(mutation.whole)) {
      this.#aside.set(entries, { ...mutation, requester });
      return;
    }
    const folder = entries && this.#removed.get(entries);
    const after = entries && this.#placed.get(entries);
    try {
      if (folder !== undefined && this.#writeFolder({ mutation, from }, requester, folder)) return;
      this.#write({ mutation, from, read: { after } }, requester);
    } catch (error) {
      this.#lose({ mutation, from }, requester, error);
    }
  }

  async readPlaced(entries: StepEntries): Promise<void> {
    this.#placed.set(entries, await outcomeOf(() => readPlaced(entries.placed?.())));
  }

  async readAhead({ replaced, placed }: StepEntries, requester: Requester | undefined): Promise<void> {
    await hashFileAhead(replaced(), Math.min(largestHashed, this.#segments.largestContent));
    await hashFileAhead(placed?.(), largestHashed);
    const file = replaced();
    if (requester === undefined || file?.kind !== "file" || !isLarge(file)) return;
    await this.#copies.make(file, () => this.#makesRoomFor(file.size, requester));
  }

  /** Makes room for a content of the requester's record. Returns false if it cannot be kept there. */
  #makesRoomFor(length: number, requester: Requester): boolean {
    const { known, place } = this.#placeFor(requester);
    if (known?.isFull || length > this.#contentsIn(place).room) return false;
    return this.#segments.makeRoom(place.segment, length);
  }

  async readRemoved(entries: StepEntries, requester: Requester): Promise<void> {
    try {
      this.#removed.set(entries, await this.#readFolder(() => entries.replaced(), requester));
    } catch {
      // The step will meet and report the error.
    }
  }

  async readAside(entries: StepEntries): Promise<void> {
    const mutation = this.#aside.get(entries);
    if (mutation === undefined) return;
    const { requester } = mutation;
    try {
      for (;;) {
        const folder = await this.#readFolder(() => entries.aside?.(), requester);
        if (this.#writeFolder({ mutation }, requester, folder)) return;
      }
    } catch (error) {
      this.#lose({ mutation }, requester, error);
    }
  }

  /** Reads a folder in slices, for the record of the requester. Throws the errno error of the journal. */
  async #readFolder(find: () => HeldEntry | undefined, requester: Requester): Promise<ReadFolder> {
    const where = this.#placeFor(requester);
    const contents = this.#contentsIn(where.place);
    return { ...where, contents, before: await outcomeOf(() => readRemoved(find(), contents)) };
  }

  /** Writes the frame of a step that removes a folder. Returns false if the folder has to be read again. */
  #writeFolder(step: Step, requester: Requester, { known, place, contents, before }: ReadFolder): boolean {
    // The segment may be full now, so that no record can begin there.
    if (known === undefined && this.#segments.place().segment !== place.segment) {
      contents.drop();
      return false;
    }
    const read = { before };
    if (known === undefined) return this.#begin({ ...step, read }, requester, { place, contents });
    return this.#writeFrame({ ...step, read }, { record: known, head: undefined, contents });
  }

  /** Reports that a step is in no record, and cannot be undone. */
  #lose({ mutation, from }: Step, requester: Requester, error: unknown): void {
    this.#sayBroken(error);
    this.lost.add(mutation, { from, at: this.#now(), isRecorded: false });
    // The record may be gone, or have a gap.
    this.#records.delete(callOf(requester));
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const begun = outcome === "done" ? this.#makingOf(mutation) : this.#begun.get(mutation);
    if (outcome !== "done") this.lost.fail(mutation);
    if (begun === undefined) return;
    for (const index of begun.frames) begun.record.notDone.add(index);
    try {
      const { place } = begun.record;
      const { record, key } = place;
      this.#segments.append(place, [encodeFrame(key, { record, notDone: begun.frames })]);
    } catch (error) {
      // Even without this frame, an undo finds the tree in the state before the step.
      this.#sayBroken(error);
    }
  }

  close(): void {
    if (this.#failure !== undefined)
      this.log.warn("changes were not recorded", { lost_changes: this.#lostInFailure() });
    this.#copies.close();
    this.#segments.close();
  }

  /** Returns the frame of the step that made the folder, if a step only takes that back. */
  #makingOf({ takesBack = false, requester, path }: Mutation): Begun | undefined {
    const record = takesBack && requester !== undefined ? this.#records.get(callOf(requester)) : undefined;
    const index = record?.madeFolders.get(path);
    return record === undefined || index === undefined ? undefined : { record, frames: [index] };
  }

  /** Returns the origin of an entry that a transaction renames in two steps. */
  #originOf({ kind, path, from, whole }: Mutation): string | undefined {
    if (kind !== "rename" || from === undefined || !isTransaction(whole)) return from;
    const origins = this.#origins.get(whole) ?? new Map<string, string>();
    this.#origins.set(whole, origins);
    const origin = origins.get(from) ?? from;
    if (isHidden(path)) origins.set(path, origin);
    return origin;
  }

  #write(step: Step, requester: Requester): void {
    for (;;) {
      const { known, place } = this.#placeFor(requester);
      if (known !== undefined) {
        this.#writeFrame(step, { record: known, head: undefined });
        return;
      }
      if (this.#begin(step, requester, { place })) return;
    }
  }

  /** Returns the record of the requester, if it has one, and the place of its frames. */
  #placeFor(requester: Requester): { known: OpenRecord | undefined; place: RecordLocation } {
    const known = this.#records.get(callOf(requester));
    if (known !== undefined && this.#segments.has(known.place.segment)) return { known, place: known.place };
    return { known: undefined, place: this.#segments.place() };
  }

  /** Begins a record with the frame of a step. Returns false if it cannot begin there any longer. */
  #begin(
    step: Step,
    requester: Requester,
    { place, contents }: { readonly place: RecordLocation; readonly contents?: Contents },
  ): boolean {
    const record = {
      place,
      seq: undefined,
      frames: 0,
      notDone: new Set<number>(),
      madeFolders: new Map(),
      isFull: false,
    };
    const head = headOf(step.mutation, requester);
    if (!this.#writeFrame(step, { record, head, contents })) return false;
    this.#records.set(callOf(requester), record);
    return true;
  }

  #contentsIn(place: RecordLocation): Contents {
    const kept = { segments: this.#segments, copies: this.#copies };
    return new Contents(kept, place, (error) => this.#sayBroken(error));
  }

  /** Writes the frame of a step. Returns false if a record cannot begin there any longer. */
  #writeFrame({ mutation, from, read }: Step, writing: Writing): boolean {
    const { record, contents = this.#contentsIn(record.place) } = writing;
    const described = from === undefined ? mutation : { ...mutation, from };
    const frames = this.#framesOf({ mutation: described, read }, writing, contents);
    if (frames !== undefined) {
      const begun = this.#segments.append(record.place, frames);
      if (begun === "full") {
        contents.drop();
        return false;
      }
      record.seq ??= begun;
    }
    if (contents.isLost) this.lost.add(mutation, { from, at: this.#now(), isRecorded: frames !== undefined });
    if (frames === undefined) return true;
    if (!contents.hasFailed) this.#sayRepaired();
    const index = record.frames++;
    if (mutation.kind === "make-folder") record.madeFolders.set(mutation.path, index);
    this.#note(mutation, record, index);
    if (isTransaction(mutation.whole)) this.#note(mutation.whole, record, index);
    return true;
  }

  /** Returns the frames of a step, or `undefined` without room even to record the step as lost. */
  #framesOf(
    { mutation, read }: Step,
    { record, head }: Writing,
    contents: Contents,
  ): readonly EncodedFrame[] | undefined {
    const now = this.#now();
    const { segment, key, record: name } = record.place;
    const first = head === undefined ? [] : [encodeFrame(key, { record: name, ...head })];
    const framesWith = (frame: StepFrame, spare: number) => {
      contents.flush();
      const frames = [...first, encodeFrame(key, { record: name, ...frame }, contents)];
      const bytes = frames.reduce((sum, { bytes, apart }) => sum + bytes + apart, spare);
      return this.#segments.makeRoom(segment, bytes) ? frames : undefined;
    };
    if (record.isFull) {
      contents.drop();
      return undefined;
    }
    try {
      const frames = framesWith(frameOf(mutation, now, { keeper: contents, read }), roomToSayLost);
      if (frames !== undefined) return frames;
      throw new Unavailable("too-large");
    } catch (error) {
      contents.drop();
      const frames = framesWith(lostFrame(mutation, now, lossOf(error)), 0);
      record.isFull = frames === undefined;
      return frames;
    }
  }

  /**
   * Returns microseconds since 1970, increasing from one step to the next, even if the clock is set back
   * between two workers: steps are undone in this order.
   */
  #now(): number {
    const now = Math.round((performance.timeOrigin + performance.now()) * 1000);
    this.#newest = Math.max(now, this.#newest + 1, this.#segments.latest + 1);
    return this.#newest;
  }

  #note(mutation: Mutation, record: OpenRecord, index: number): void {
    const begun = this.#begun.get(mutation);
    if (begun === undefined) this.#begun.set(mutation, { record, frames: [index] });
    else begun.frames.push(index);
  }

  #sayBroken(error: unknown): void {
    if (this.#failure !== undefined) return;
    const reason = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    this.#failure = { reason, lostBefore: this.lost.count };
    this.log.warn("the journal cannot be written", { reason, folder: this.state.location });
  }

  #sayRepaired(): void {
    if (this.#failure === undefined) return;
    this.log.warn("the journal can be written again", { lost_changes: this.#lostInFailure() });
    this.#failure = undefined;
  }

  #lostInFailure(): number {
    return this.lost.count - (this.#failure?.lostBefore ?? 0);
  }
}

/** The bytes that contents must leave for a frame that records the step as lost. */
const roomToSayLost = 512;

/** Maximum bytes of the contents in a frame, which is written in one step. */
const maxInline = 4 * 1024 * 1024;

/** Bytes of small contents that are written beside the frame together. */
const packedAtOnce = 1024 * 1024;

/** A file of small contents beside the frames. */
interface Pack {
  readonly name: ContentName;
  length: number;
  /** The contents at its end that are not written yet, and their bytes. */
  unwritten: Buffer[];
  unwrittenBytes: number;
}

/** The contents of one frame. */
class Contents implements ContentKeeper, FrameContents {
  readonly inline: Buffer[] = [];
  readonly #segments: Segments;
  readonly #copies: AheadCopies;
  readonly #place: RecordLocation;
  readonly #onError: (error: unknown) => void;
  readonly #blobs: { readonly name: ContentName; readonly copy?: AheadCopy }[] = [];
  #inlineBytes = 0;
  #pack: Pack | undefined;
  apart = 0;
  /** Whether they were given up. */
  isLost = false;
  /** Whether that is because they could not be written. */
  hasFailed = false;

  constructor(
    { segments, copies }: { readonly segments: Segments; readonly copies: AheadCopies },
    place: RecordLocation,
    onError: (error: unknown) => void,
  ) {
    this.#segments = segments;
    this.#copies = copies;
    this.#place = place;
    this.#onError = onError;
  }

  get room(): number {
    return this.#segments.roomOf(this.#place.segment) - this.#inlineBytes - this.apart - roomToSayLost;
  }

  keepSmall(bytes: Buffer): ContentLocation {
    const { length } = bytes;
    if (this.#inlineBytes + length > maxInline) return this.#keepInPack(bytes);
    const place = { inline: this.#inlineBytes, length };
    this.inline.push(bytes);
    this.#inlineBytes += length;
    return place;
  }

  #keepInPack(bytes: Buffer): ContentLocation {
    const { length } = bytes;
    this.#pack ??= { name: this.#createPack(), length: 0, unwritten: [], unwrittenBytes: 0 };
    const pack = this.#pack;
    const place = { blob: pack.name.blob, at: pack.length, length };
    pack.length += length;
    pack.unwritten.push(bytes);
    pack.unwrittenBytes += length;
    this.apart += length;
    if (pack.unwrittenBytes >= packedAtOnce) this.flush();
    return place;
  }

  #createPack(): ContentName {
    const name = this.#orNotWritten(() => this.#segments.createContent(this.#place));
    this.#blobs.push({ name });
    return name;
  }

  /** Writes the small contents that the frame has no room for. Throws `Unavailable` if that fails. */
  flush(): void {
    const pack = this.#pack;
    if (pack === undefined || pack.unwrittenBytes === 0) return;
    const bytes = Buffer.concat(pack.unwritten);
    pack.unwritten = [];
    pack.unwrittenBytes = 0;
    this.#orNotWritten(() => {
      this.#segments.makeRoom(this.#place.segment, this.apart);
      this.#segments.extendContent(this.#place, pack.name, bytes);
    });
  }

  *keepBlob(descriptor: number, length: number): Steps<ContentLocation> {
    try {
      const name = yield* this.#segments.keepContent(this.#place, {
        from: descriptor,
        length: this.apart + length,
      });
      this.#blobs.push({ name });
      this.apart += length;
      return { blob: name.blob, length };
    } catch (error) {
      throw this.#notWritten(error);
    }
  }

  keepCopied(descriptor: number, length: number): ContentLocation | undefined {
    return this.#orNotWritten(() => {
      const copy = this.#copies.take(descriptor);
      if (copy === undefined) return undefined;
      const apart = this.apart + length;
      const name = this.#segments.adoptContent(this.#place, { copy: copy.path, length: apart });
      if (name === undefined) {
        this.#copies.giveBack(copy);
        return undefined;
      }
      this.#blobs.push({ name, copy });
      this.apart = apart;
      return { blob: name.blob, length };
    });
  }

  *readKept(): Steps<KeptBlob> {
    const { name } = this.#blobs.at(-1)!;
    const descriptor = this.#orNotWritten(() => this.#segments.openContent(this.#place, name));
    try {
      const revision = (yield* revisionInSteps(descriptor))!;
      const length = fstatSync(descriptor).size;
      return { content: { blob: name.blob, length }, revision };
    } finally {
      closeSync(descriptor);
    }
  }

  /** Drops all contents of the record, so that it cannot be undone. */
  drop(): void {
    this.isLost = true;
    this.inline.length = 0;
    this.#pack = undefined;
    this.apart = 0;
    for (const { name, copy } of this.#blobs.splice(0)) {
      if (copy === undefined) this.#segments.dropContent(this.#place, name);
      else if (this.#segments.releaseContent(this.#place, name, copy.path)) this.#copies.giveBack(copy);
    }
  }

  #orNotWritten<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw this.#notWritten(error);
    }
  }

  #notWritten(error: unknown): Unavailable {
    this.hasFailed = true;
    this.#onError(error);
    return new Unavailable("not-written");
  }
}

/** Runs steps in slices. Returns a function that returns their value or throws their error. */
async function outcomeOf<T>(start: () => Steps<T>): Promise<() => T> {
  try {
    const value = await runInSlices(start(), createTimeSlice());
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

const lossOf = (error: unknown): Loss => (error instanceof Unavailable ? error.loss : "unreadable");

const headOf = ({ whole }: Mutation, { functionId, caller, author, label }: Requester): RecordHead => ({
  version: 2,
  ts: Date.now(),
  function_id: functionId,
  caller,
  author: caller === undefined ? author : undefined,
  label: whole?.transaction?.label ?? label,
  transaction: whole?.transaction?.id,
});
