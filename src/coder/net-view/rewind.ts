import { LaterRecords } from "../../filesystem/journal/later-records.ts";
import { netSteps } from "../../filesystem/journal/net-steps.ts";
import {
  contentOf,
  inPauses,
  type JournalRecord,
  type JournalSource,
  type RecordedStep,
  stepsOf,
} from "../../filesystem/journal/read-record.ts";
import { undoRecords } from "../../filesystem/journal/undo-records.ts";
import type { RewoundTree } from "./rewound-tree.ts";

interface RewindOptions {
  readonly source: JournalSource;
  /** Returns whether the caller may know of a step. Other steps are not undone. */
  readonly isShown: (step: RecordedStep) => boolean;
  /** Lets other calls run. Called between steps, it throws if the work must end. */
  readonly pause: () => Promise<void>;
}

/**
 * Undoes a record on a tree in memory, over anything that changed since. Paths whose earlier content is not
 * kept become unknown.
 */
export async function rewind(
  tree: RewoundTree,
  record: JournalRecord,
  { source, isShown, pause }: RewindOptions,
): Promise<void> {
  tree.beginRecord(record.seq);
  const steps = await inPauses(netSteps(await stepsOf(record, isShown, pause)), pause);
  const met = new Set<string>();
  for (const { path, from = path, after } of steps.toReversed()) {
    if (!met.has(path)) tree.meet(path, after.state);
    met.add(path).add(from);
    await pause();
  }
  const { undone } = await undoRecords({
    tree,
    records: [{ ...record, steps }],
    selects: () => true,
    force: true,
    content: (step, kept) => contentOf(source, step, kept, pause),
    later: await LaterRecords.of([], { after: 0, isShown, pause }),
    pause,
  });
  const lost = new Set(undone.flatMap(({ skipped }) => skipped.map(({ path }) => path)));
  // If a move could not be undone, its entry is still at one end, and the earlier entry of the other end is
  // missing.
  for (const { path, from } of steps) {
    if (from !== undefined && (lost.has(path) || lost.has(from))) lost.add(path).add(from);
    await pause();
  }
  for (const path of lost) {
    tree.lose(path);
    await pause();
  }
}
