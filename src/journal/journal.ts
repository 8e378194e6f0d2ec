/**
 * The journal: what every change of the tree took away, so that it can be put back. A listener of `files/mutate` writes a
 * frame before each step is done (write-ahead). It never fails a call: the log says that it cannot be written, and the
 * record that a step cannot be undone.
 */
import { closeSync } from "node:fs";
import type { Mutation, MutationListener, MutationOutcome, Requester } from "../files/mutation.ts";
import { errnoOf } from "../jail/errno.ts";
import { isTemporary } from "../jail/temporary.ts";
import type { Log } from "../log/log.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { type ContentKeeper, frameOf, lostFrame, Unavailable } from "./capture.ts";
import { encodeFrame, type Loss, type RecordHead, type StepFrame } from "./frame.ts";
import { type JournalBounds, RecordFiles } from "./record-files.ts";

export interface JournalOptions {
  readonly state: StateFolder;
  readonly bounds: JournalBounds;
  readonly log: Log;
}

/** A record that is being written. */
interface OpenRecord {
  readonly seq: number;
  /** How many step frames it has. */
  frames: number;
}

/** A step that is under way, or a transaction. */
interface Begun {
  readonly record: OpenRecord;
  readonly frames: number[];
}

export class Journal implements MutationListener {
  readonly state: StateFolder;
  readonly log: Log;
  readonly #files: RecordFiles;
  readonly #records = new WeakMap<Requester, OpenRecord>();
  readonly #begun = new WeakMap<Mutation, Begun>();
  readonly #losses = new WeakMap<Requester, number>();
  /** Of the record that was written last: the next frame is mostly of the same call. */
  #open: { readonly seq: number; readonly descriptor: number } | undefined;
  #isBrokenSaid = false;

  constructor({ state, bounds, log }: JournalOptions) {
    this.state = state;
    this.log = log;
    this.#files = new RecordFiles(state, bounds);
  }

  /** How many steps of this call cannot be undone, so far. */
  lossesOf(requester: Requester): number {
    return this.#losses.get(requester) ?? 0;
  }

  before(mutation: Mutation): void {
    const { requester, path, from = "" } = mutation;
    if (requester === undefined || !isStep(mutation) || isHidden(path) || isHidden(from)) return;
    try {
      this.#write(mutation, requester);
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
      this.#append(begun.record, encodeFrame({ notDone: begun.frames }));
    } catch (error) {
      // The tree is as it was before the step, which is how its undo finds out.
      this.#sayBroken(error);
    }
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor);
    this.#open = undefined;
  }

  #write(mutation: Mutation, requester: Requester): void {
    const now = microseconds();
    const known = this.#records.get(requester);
    const isKept = known !== undefined && this.#files.has(known.seq);
    const record = isKept ? known : this.#create(requester);
    const head = isKept ? [] : encodeFrame(headOf(mutation, requester, record.seq));
    const contents = new Contents(this.#files, record.seq, (error) => this.#sayBroken(error));
    let frame: StepFrame;
    try {
      frame = frameOf(mutation, now, contents);
    } catch (error) {
      contents.drop();
      this.#lose(requester);
      frame = lostFrame(mutation, now, lossOf(error));
    }
    this.#append(record, [...head, ...encodeFrame(frame, contents.inline)]);
    const index = record.frames++;
    this.#note(mutation, record, index);
    if (isTransaction(mutation.whole)) this.#note(mutation.whole, record, index);
  }

  #note(mutation: Mutation, record: OpenRecord, index: number): void {
    const begun = this.#begun.get(mutation);
    if (begun === undefined) this.#begun.set(mutation, { record, frames: [index] });
    else begun.frames.push(index);
  }

  #create(requester: Requester): OpenRecord {
    const { seq, descriptor } = this.#files.create();
    this.close();
    this.#open = { seq, descriptor };
    const record = { seq, frames: 0 };
    this.#records.set(requester, record);
    return record;
  }

  #append({ seq }: OpenRecord, pieces: readonly Buffer[]): void {
    if (this.#open?.seq !== seq) {
      this.close();
      this.#open = { seq, descriptor: this.#files.reopen(seq) };
    }
    this.#files.append(seq, this.#open.descriptor, pieces);
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

/** The contents of one frame. */
class Contents implements ContentKeeper {
  readonly inline: Buffer[] = [];
  readonly #files: RecordFiles;
  readonly #seq: number;
  readonly #onError: (error: unknown) => void;
  readonly #blobs: { readonly blob: number; readonly length: number }[] = [];
  #inlineBytes = 0;
  #blobBytes = 0;

  constructor(files: RecordFiles, seq: number, onError: (error: unknown) => void) {
    this.#files = files;
    this.#seq = seq;
    this.#onError = onError;
  }

  get room(): number {
    return this.#files.maxBytes - this.#inlineBytes - this.#blobBytes;
  }

  keepInline(bytes: Buffer): { inline: number; length: number } {
    const place = { inline: this.#inlineBytes, length: bytes.length };
    this.inline.push(bytes);
    this.#inlineBytes += bytes.length;
    return place;
  }

  keepBlob(descriptor: number, length: number): { blob: number; length: number } {
    try {
      const blob = this.#files.keepBlob(this.#seq, descriptor, length);
      this.#blobs.push({ blob, length });
      this.#blobBytes += length;
      return { blob, length };
    } catch (error) {
      this.#onError(error);
      throw new Unavailable("not-written");
    }
  }

  /** Gives them all up. */
  drop(): void {
    this.inline.length = 0;
    for (const { blob, length } of this.#blobs.splice(0)) this.#files.dropBlob(this.#seq, blob, length);
  }
}

/** The steps of a tree are kept, and not the tree as a whole. */
const isStep = ({ isTree, kind }: Mutation): boolean => !isTree && kind !== "sweep";

/** Of another tree, what was done of it stays done when it fails. */
const isTransaction = (whole: Mutation | undefined): whole is Mutation => whole?.kind === "transaction";

/** Callers see nothing of temporary files. */
const isHidden = (path: string): boolean => isTemporary(path.slice(path.lastIndexOf("/") + 1));

const lossOf = (error: unknown): Loss => (error instanceof Unavailable ? error.loss : "unreadable");

const headOf = ({ whole }: Mutation, { functionId, caller }: Requester, seq: number): RecordHead => ({
  version: 1,
  seq,
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
