/**
 * The journal: everything that changes of the tree remove, so that it can be restored. A listener of
 * `filesystem/disk` writes a frame before each step is done (write-ahead). It never fails a call: if it
 * cannot be written, the log says so, and the record says that the step cannot be undone.
 */

import type { Log } from "../../base/log/log.ts";
import type { Mutation, MutationListener, MutationOutcome, Requester } from "../disk/mutation.ts";
import { errnoOf } from "../jail/errno.ts";
import { isTemporary } from "../jail/temporary.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { type ContentKeeper, frameOf, lostFrame, Unavailable } from "./capture.ts";
import {
  type EncodedFrame,
  encodeFrame,
  type FrameContents,
  type Loss,
  type RecordHead,
  type StepFrame,
} from "./frame.ts";
import type { ContentName } from "./segment-folder.ts";
import { type JournalBounds, type RecordPlace, Segments } from "./segments.ts";

export interface JournalOptions {
  readonly state: StateFolder;
  readonly bounds: JournalBounds;
  readonly log: Log;
}

/** A record that is being written. */
interface OpenRecord {
  readonly place: RecordPlace;
  /** The number of the record, once it has begun. */
  seq: number | undefined;
  /** The number of its step frames. */
  frames: number;
  /** The indexes of its step frames that were not done after all. */
  readonly notDone: Set<number>;
  /** Whether no further step of it can be kept, or even be listed as lost. */
  isFull: boolean;
}

/** A record that receives a frame, and its head if that is the first. */
interface Writing {
  readonly record: OpenRecord;
  readonly head: RecordHead | undefined;
}

/** A step, and the origin of the entry that it renames. */
interface Step {
  readonly mutation: Mutation;
  readonly from: string | undefined;
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
  readonly #records = new WeakMap<object, OpenRecord>();
  readonly #begun = new WeakMap<Mutation, Begun>();
  /** The origins of entries that have temporary names, by transaction. */
  readonly #origins = new WeakMap<Mutation, Map<string, string>>();
  readonly #losses = new WeakMap<object, number>();
  #isBrokenSaid = false;

  constructor({ state, bounds, log }: JournalOptions) {
    this.state = state;
    this.log = log;
    this.#segments = new Segments(state, bounds);
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
    return this.#losses.get(callOf(requester)) ?? 0;
  }

  before(mutation: Mutation): void {
    const { requester, path } = mutation;
    if (requester === undefined || !isStep(mutation)) return;
    const from = this.#originOf(mutation);
    if (isHidden(path) || isHidden(from ?? "")) return;
    try {
      this.#write({ mutation, from }, requester);
    } catch (error) {
      this.#lose(requester);
      this.#sayBroken(error);
      // The record may be gone, or have a gap.
      this.#records.delete(callOf(requester));
    }
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const begun = this.#begun.get(mutation);
    if (begun === undefined || outcome === "done") return;
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
    this.#segments.close();
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
    const known = this.#records.get(callOf(requester));
    if (known !== undefined && this.#segments.has(known.place.segment)) {
      this.#writeFrame(step, requester, { record: known, head: undefined });
      return;
    }
    const head = headOf(step.mutation, requester);
    for (;;) {
      const place = this.#segments.place();
      const record = { place, seq: undefined, frames: 0, notDone: new Set<number>(), isFull: false };
      if (!this.#writeFrame(step, requester, { record, head })) continue;
      this.#records.set(callOf(requester), record);
      return;
    }
  }

  /** Writes the frame of a step. Returns false if a record cannot begin there any longer. */
  #writeFrame({ mutation, from }: Step, requester: Requester, { record, head }: Writing): boolean {
    const contents = new Contents(this.#segments, record.place, (error) => this.#sayBroken(error));
    const described = from === undefined ? mutation : { ...mutation, from };
    const frames = this.#framesOf(described, { record, head }, contents);
    if (frames !== undefined) {
      const begun = this.#segments.append(record.place, frames);
      if (begun === "full") {
        contents.drop();
        return false;
      }
      record.seq ??= begun;
    }
    if (contents.isLost) this.#lose(requester);
    if (frames === undefined) return true;
    const index = record.frames++;
    this.#note(mutation, record, index);
    if (isTransaction(mutation.whole)) this.#note(mutation.whole, record, index);
    return true;
  }

  /** Returns the frames of a step, or `undefined` without room even to record the step as lost. */
  #framesOf(
    mutation: Mutation,
    { record, head }: Writing,
    contents: Contents,
  ): readonly EncodedFrame[] | undefined {
    const now = microseconds();
    const { segment, key, record: name } = record.place;
    const first = head === undefined ? [] : [encodeFrame(key, { record: name, ...head })];
    const framesWith = (frame: StepFrame, spare: number) => {
      const frames = [...first, encodeFrame(key, { record: name, ...frame }, contents)];
      const bytes = frames.reduce((sum, { bytes, apart }) => sum + bytes + apart, spare);
      return this.#segments.makeRoom(segment, bytes) ? frames : undefined;
    };
    if (record.isFull) {
      contents.drop();
      return undefined;
    }
    try {
      const frames = framesWith(frameOf(mutation, now, contents), roomToSayLost);
      if (frames !== undefined) return frames;
      throw new Unavailable("too-large");
    } catch (error) {
      contents.drop();
      const frames = framesWith(lostFrame(mutation, now, lossOf(error)), 0);
      record.isFull = frames === undefined;
      return frames;
    }
  }

  #note(mutation: Mutation, record: OpenRecord, index: number): void {
    const begun = this.#begun.get(mutation);
    if (begun === undefined) this.#begun.set(mutation, { record, frames: [index] });
    else begun.frames.push(index);
  }

  #lose(requester: Requester): void {
    this.#losses.set(callOf(requester), this.lossesOf(requester) + 1);
  }

  #sayBroken(error: unknown): void {
    if (this.#isBrokenSaid) return;
    this.#isBrokenSaid = true;
    const reason = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    this.log.warn("the journal cannot be written", { reason, folder: this.state.location });
  }
}

/** The bytes that contents must leave for a frame that records the step as lost. */
const roomToSayLost = 512;

/** The contents of one frame. */
class Contents implements ContentKeeper, FrameContents {
  readonly inline: Buffer[] = [];
  readonly #segments: Segments;
  readonly #place: RecordPlace;
  readonly #onError: (error: unknown) => void;
  readonly #blobs: ContentName[] = [];
  #inlineBytes = 0;
  apart = 0;
  /** Whether they were given up. */
  isLost = false;

  constructor(segments: Segments, place: RecordPlace, onError: (error: unknown) => void) {
    this.#segments = segments;
    this.#place = place;
    this.#onError = onError;
  }

  get room(): number {
    return this.#segments.roomOf(this.#place.segment) - this.#inlineBytes - this.apart - roomToSayLost;
  }

  keepInline(bytes: Buffer): { inline: number; length: number } {
    const place = { inline: this.#inlineBytes, length: bytes.length };
    this.inline.push(bytes);
    this.#inlineBytes += bytes.length;
    return place;
  }

  keepBlob(descriptor: number, length: number): { blob: number; length: number } {
    try {
      const name = this.#segments.keepContent(this.#place, { from: descriptor, length: this.apart + length });
      this.#blobs.push(name);
      this.apart += length;
      return { blob: name.blob, length };
    } catch (error) {
      this.#onError(error);
      throw new Unavailable("not-written");
    }
  }

  /** Drops all contents of the record, so that it cannot be undone. */
  drop(): void {
    this.isLost = true;
    this.inline.length = 0;
    this.apart = 0;
    for (const name of this.#blobs.splice(0)) this.#segments.dropContent(this.#place, name);
  }
}

/** Returns the object that all contexts of one call share. */
const callOf = (requester: Requester): object => requester.call ?? requester;

/** Returns whether to keep a mutation. The steps of a tree are kept, and not the tree as a whole. */
const isStep = ({ isTree, kind }: Mutation): boolean => !isTree && kind !== "sweep";

/** Returns whether the whole is a transaction. Completed parts of any other tree stay done if it fails. */
const isTransaction = (whole: Mutation | undefined): whole is Mutation => whole?.kind === "transaction";

/** Returns whether a path is that of a temporary file, which callers do not see. */
const isHidden = (path: string): boolean => isTemporary(path.slice(path.lastIndexOf("/") + 1));

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

let lastTime = 0;

/** Returns microseconds since 1970, increasing from one call to the next. */
function microseconds(): number {
  const now = Math.round((performance.timeOrigin + performance.now()) * 1000);
  lastTime = Math.max(now, lastTime + 1);
  return lastTime;
}
