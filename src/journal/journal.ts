/**
 * The journal: what every change of the tree took away, so that it can be put back. A listener of `files/mutate` writes a
 * frame before each step is done (write-ahead). It never fails a call: the log says that it cannot be written, and the
 * record that a step cannot be undone.
 */
import type { Mutation, MutationListener, MutationOutcome, Requester } from "../files/mutation.ts";
import { errnoOf } from "../jail/errno.ts";
import { isTemporary } from "../jail/temporary.ts";
import type { Log } from "../log/log.ts";
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
  /** How many step frames it has. */
  frames: number;
  /** No further step of it can be kept, nor listed as lost. */
  isFull: boolean;
}

/** A record that gets a frame, and its head if that is the first. */
interface Writing {
  readonly record: OpenRecord;
  readonly head: RecordHead | undefined;
}

/** A step, and where what it renames comes from. */
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
  readonly #records = new WeakMap<Requester, OpenRecord>();
  readonly #begun = new WeakMap<Mutation, Begun>();
  /** Of each transaction: where entries come from that have temporary names for a moment. */
  readonly #origins = new WeakMap<Mutation, Map<string, string>>();
  readonly #losses = new WeakMap<Requester, number>();
  #isBrokenSaid = false;

  constructor({ state, bounds, log }: JournalOptions) {
    this.state = state;
    this.log = log;
    this.#segments = new Segments(state, bounds);
  }

  /** Bytes on the disk, as far as this worker knows. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** How many steps of this call cannot be undone, so far. */
  lossesOf(requester: Requester): number {
    return this.#losses.get(requester) ?? 0;
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
      // It may be gone, or have a hole.
      this.#records.delete(requester);
    }
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const begun = this.#begun.get(mutation);
    if (begun === undefined || outcome === "done") return;
    try {
      const { place } = begun.record;
      const { record, key } = place;
      this.#segments.append(place, [encodeFrame(key, { record, notDone: begun.frames })]);
    } catch (error) {
      // The tree is as it was before the step, which is how its undo finds out.
      this.#sayBroken(error);
    }
  }

  close(): void {
    this.#segments.close();
  }

  /** Where an entry comes from that a transaction renames by a third name. */
  #originOf({ kind, path, from, whole }: Mutation): string | undefined {
    if (kind !== "rename" || from === undefined || !isTransaction(whole)) return from;
    const origins = this.#origins.get(whole) ?? new Map<string, string>();
    this.#origins.set(whole, origins);
    const origin = origins.get(from) ?? from;
    if (isHidden(path)) origins.set(path, origin);
    return origin;
  }

  #write(step: Step, requester: Requester): void {
    const known = this.#records.get(requester);
    if (known !== undefined && this.#segments.has(known.place.segment)) {
      this.#writeFrame(step, requester, { record: known, head: undefined });
      return;
    }
    const head = headOf(step.mutation, requester);
    for (;;) {
      const record = { place: this.#segments.place(), frames: 0, isFull: false };
      if (!this.#writeFrame(step, requester, { record, head })) continue;
      this.#records.set(requester, record);
      return;
    }
  }

  /** False when a record cannot begin there any more. */
  #writeFrame({ mutation, from }: Step, requester: Requester, { record, head }: Writing): boolean {
    const contents = new Contents(this.#segments, record.place, (error) => this.#sayBroken(error));
    const described = from === undefined ? mutation : { ...mutation, from };
    const frames = this.#framesOf(described, { record, head }, contents);
    if (frames !== undefined && !this.#segments.append(record.place, frames)) {
      contents.drop();
      return false;
    }
    if (contents.isLost) this.#lose(requester);
    if (frames === undefined) return true;
    const index = record.frames++;
    this.#note(mutation, record, index);
    if (isTransaction(mutation.whole)) this.#note(mutation.whole, record, index);
    return true;
  }

  /** Undefined when there is no room to say even that the step is lost. */
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
    this.#losses.set(requester, this.lossesOf(requester) + 1);
  }

  #sayBroken(error: unknown): void {
    if (this.#isBrokenSaid) return;
    this.#isBrokenSaid = true;
    const reason = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    this.log.warn("the journal cannot be written", { reason, folder: this.state.location });
  }
}

/** Bytes that contents leave free. */
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

  /** Gives them all up. */
  drop(): void {
    this.isLost = true;
    this.inline.length = 0;
    this.apart = 0;
    for (const name of this.#blobs.splice(0)) this.#segments.dropContent(this.#place, name);
  }
}

/** The steps of a tree are kept, and not the tree as a whole. */
const isStep = ({ isTree, kind }: Mutation): boolean => !isTree && kind !== "sweep";

/** Of another tree, what was done of it stays done when it fails. */
const isTransaction = (whole: Mutation | undefined): whole is Mutation => whole?.kind === "transaction";

/** Callers see nothing of temporary files. */
const isHidden = (path: string): boolean => isTemporary(path.slice(path.lastIndexOf("/") + 1));

const lossOf = (error: unknown): Loss => (error instanceof Unavailable ? error.loss : "unreadable");

const headOf = ({ whole }: Mutation, { functionId, caller }: Requester): RecordHead => ({
  version: 2,
  ts: Date.now(),
  function_id: functionId,
  caller,
  label: whole?.transaction?.label,
  transaction: whole?.transaction?.id,
});

let lastTime = 0;

/** Since 1970; rising from one call to the next. */
function microseconds(): number {
  const now = Math.round((performance.timeOrigin + performance.now()) * 1000);
  lastTime = Math.max(now, lastTime + 1);
  return lastTime;
}
