/** The differences that one call made, as a journal record has them. */
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { changedPaths } from "../../filesystem/journal/changed-paths.ts";
import { type JournalRecord, type RecordedStep, stepsOf } from "../../filesystem/journal/read-record.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { endsOf, isShown } from "../checkpoints/recorded-paths.ts";
import { requireJournal } from "../checkpoints/require-journal.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import {
  compare,
  diskView,
  type EntryThen,
  type FileDiff,
  type NetDifference,
  nothing,
} from "./file-diff.ts";
import { type ComparedImages, imagesOf, lengthOf } from "./images.ts";
import { rewind } from "./rewind.ts";
import { RewoundTree } from "./rewound-tree.ts";

/** The difference of a path, or the reason why it is unknown, and both sides of an image if requested. */
export interface PathDifference {
  readonly found: FileDiff | string;
  readonly images?: ComparedImages;
}

interface BackInTimeOptions {
  /** Maximum bytes of all diffs and images. */
  readonly maxBytes: number;
  readonly withImages: boolean;
  /** The encoding of files whose encoding nothing else names. */
  readonly encoding: Encoding | undefined;
}

/** Goes back in time, from the tree on disk, one record after the other. */
export class BackInTime {
  readonly #tree: RewoundTree;
  readonly #context: CoderContext;
  readonly #withImages: boolean;
  readonly #encoding: Encoding | undefined;
  /** The bytes left for diffs and images. */
  #room: number;

  constructor(context: CoderContext, { maxBytes, withImages, encoding }: BackInTimeOptions) {
    this.#tree = new RewoundTree(diskView(context), pauseOf(context));
    this.#context = context;
    this.#withImages = withImages;
    this.#encoding = encoding;
    this.#room = maxBytes;
  }

  /** Takes back a record, which must be the newest remaining one. */
  async pass(record: JournalRecord): Promise<void> {
    const { jail } = this.#context;
    const source = requireJournal(this.#context);
    const pause = pauseOf(this.#context);
    await rewind(this.#tree, record, { source, isShown: (step) => isShown(step, jail), pause });
  }

  /** Takes back a record, and returns the differences of these paths. */
  async compare(
    record: JournalRecord,
    paths: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, PathDifference>> {
    const { jail } = this.#context;
    const pause = pauseOf(this.#context);
    const steps = await stepsOf(record, (step) => isShown(step, jail), pause);
    const all = await runInSlices(changedPaths(steps), createTimeSlice());
    const changed = all.filter(({ path }) => paths.has(path));
    const after = new Map<string, EntryThen>();
    for (const { path } of changed) {
      after.set(path, await this.#sideAt(path));
      await pause();
    }
    const last = await lastStepsAt(after, steps, pause);
    await this.pass(record);
    const differences = new Map<string, PathDifference>();
    for (const { path, from = path, change } of changed) {
      const kind = change === "mode" ? "modified" : change;
      const old = await this.#sideAt(from);
      const left = leftBy(last.get(path), path, after.get(path)!);
      const seen = {
        path,
        from: from === path ? undefined : from,
        kind,
        before: old,
        after: left ?? nothing,
      };
      const unknown = left === undefined ? changedSince(path, record.seq) : undefined;
      const isKept = !this.#tree.isUnknown(from);
      const reason = isKept ? unknown : "the journal does not keep what it was";
      differences.set(path, await this.#compare({ ...seen, seqs: [], others: [], unknown: reason }));
    }
    return differences;
  }

  async #compare(change: NetDifference): Promise<PathDifference> {
    const room = Math.max(this.#room, 0);
    const found = await runInSlices(
      compare(change, { maxBytes: room, encoding: this.#encoding }, this.#context),
      createTimeSlice(),
      () => this.#context.deadline.check(),
    );
    if (typeof found !== "string") this.#room -= found.diff.length;
    const images = this.#withImages && typeof found === "string" ? imagesOf(change, room) : undefined;
    if (images === undefined) return { found };
    if (typeof images === "string") return { found: images };
    this.#room -= lengthOf(images);
    return { found, images };
  }

  /** Returns the entry at a path at this time, with its content, which is read immediately. */
  async #sideAt(path: string): Promise<EntryThen> {
    const state = await this.#tree.stateInSlices(path);
    const content = state.kind === "file" ? this.#tree.contentAt(path) : undefined;
    return { state, content: () => content };
  }
}

/** Returns the last step that begins or ends at each of these paths. */
async function lastStepsAt(
  paths: Pick<ReadonlyMap<string, unknown>, "has">,
  steps: readonly RecordedStep[],
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, RecordedStep>> {
  const last = new Map<string, RecordedStep>();
  for (const step of steps) {
    for (const path of endsOf(step)) if (paths.has(path)) last.set(path, step);
    await pause();
  }
  return last;
}

/**
 * Returns the entry that a record, whose last step there is `last`, left at a path, or `undefined` if another
 * content has replaced it. `found` is the entry before the next record.
 */
function leftBy(last: RecordedStep | undefined, path: string, found: EntryThen): EntryThen | undefined {
  if (last === undefined || last.unavailable !== undefined) return found;
  const left = path === last.path ? last.after.state : nothing.state;
  if (left.kind === "absent") return nothing;
  const { state } = found;
  if (state.kind !== left.kind) return undefined;
  if (left.kind !== "file" || state.kind !== "file" || left.revision === "") return found;
  if (state.revision !== left.revision) return undefined;
  // A moved file has its present mode on both sides.
  return last.kind === "rename" ? found : { ...found, state: { ...state, mode: left.mode } };
}

/** Returns why the content that a record left is not known, and the call that shows what has become of it. */
function changedSince(path: string, seq: number): string {
  const since = seq === 1 ? {} : { checkpoint: seq - 1 };
  const call = JSON.stringify({ ...since, path, answer: "diff" });
  return `it has been changed since; coder::changes ${call} shows all changes since then`;
}
