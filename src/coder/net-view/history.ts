/** Goes back in the history of the tree: the records of the journal and the changes of the feed, as one. */
import type { FeedChange } from "../../filesystem/feed/change.ts";
import type { RecordedState } from "../../filesystem/journal/frame.ts";
import { isAsRecorded } from "../../filesystem/journal/is-as-recorded.ts";
import type { JournalRecord } from "../../filesystem/journal/read-record.ts";
import { isShown } from "../checkpoints/recorded-paths.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { rewind } from "./rewind.ts";
import type { RewoundTree } from "./rewound-tree.ts";

interface History {
  /** The changes of the feed, in order. */
  readonly events: readonly FeedChange[];
  /** The records, newest first, by number. */
  readonly records: ReadonlyMap<number, JournalRecord>;
}

/**
 * Takes back all records and changes on the tree, the newest first. A record is taken back at the change of
 * its call. A record of another process has no such change, and is taken back before the next older record.
 */
export async function rewindHistory(
  tree: RewoundTree,
  { events, records }: History,
  context: CoderContext,
): Promise<void> {
  const { journal: source, jail, feed } = context;
  const pause = pauseOf(context);
  const isOwn = new Set(events.flatMap(({ cause }) => (cause.by === "call" ? (cause.checkpoint ?? []) : [])));
  const newestFirst = [...records.values()];
  const foreign = await statesLeftBy(
    newestFirst.filter(({ seq }) => !isOwn.has(seq)),
    pause,
  );
  let next = 0;
  const goBackTo = async (seq: number) => {
    for (; next < newestFirst.length && newestFirst[next]!.seq >= seq; next++)
      await rewind(tree, newestFirst[next]!, {
        source: source!,
        isShown: (step) => isShown(step, jail),
        pause,
      });
  };
  /** Returns whether a change by another program is a call of another process, which has a record. */
  const isRecorded = ({ path }: FeedChange): boolean => {
    const left = foreign.get(path);
    if (left === undefined || left.seq > (newestFirst[next]?.seq ?? 0)) return false;
    return tree.isUnknown(path) || isAsRecorded(left.state, tree.state(path), false);
  };
  for (const event of events.toReversed()) {
    await pause();
    const { cause, kind, isFolder, isGap = false } = event;
    if (isGap || (isFolder && kind === "modified")) continue;
    const seq = cause.by === "call" ? cause.checkpoint : undefined;
    if (seq !== undefined) await goBackTo(seq);
    else if (!isRecorded(event)) await tree.takeBack(event, (path) => feed.knownBefore(path, event.seq));
  }
  await goBackTo(0);
}

interface Left {
  readonly state: RecordedState;
  /** The number of the record. */
  readonly seq: number;
}

/** Returns the states that the newest of these records, which are in descending order, have left. */
async function statesLeftBy(
  records: readonly JournalRecord[],
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, Left>> {
  const left = new Map<string, Left>();
  const add = (path: string, state: RecordedState, seq: number) => {
    if (!left.has(path)) left.set(path, { state, seq });
  };
  for (const { seq, steps } of records)
    for (const { path, from, after } of steps.toReversed()) {
      add(path, after.state, seq);
      if (from !== undefined) add(from, { kind: "absent" }, seq);
      await pause();
    }
  return left;
}
