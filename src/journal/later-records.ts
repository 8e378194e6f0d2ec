import { isAsRecorded } from "./is-as-recorded.ts";
import type { JournalRecord, RecordedStep } from "./read-record.ts";
import type { TreeState } from "./undo-tree.ts";

/** The records that came after those of an undo. */
export class LaterRecords {
  readonly #newestFirst: readonly JournalRecord[];

  /** `newestFirst` holds records that the call may know of, and only such steps. */
  constructor(newestFirst: readonly JournalRecord[]) {
    this.#newestFirst = newestFirst;
  }

  /** The checkpoint after `seq` that has left `found` at a path; undefined if another program has. */
  causeOf(path: string, found: TreeState, seq: number): number | undefined {
    for (const record of this.#newestFirst) {
      if (record.seq <= seq) return undefined;
      const step = record.steps.findLast((one) => touches(one, path));
      if (step !== undefined) return hasLeft(step, path, found) ? record.seq : undefined;
    }
    return undefined;
  }

  /** The newest undo after `seq` that changed one of the paths. */
  undoOf(paths: readonly string[], seq: number): number | undefined {
    return this.#newestFirst.find(
      (record) =>
        record.seq > seq &&
        record.function_id === "coder::undo" &&
        record.steps.some((step) => paths.some((path) => touches(step, path))),
    )?.seq;
  }
}

const touches = ({ path, from = path }: RecordedStep, wanted: string): boolean =>
  [path, from].some((end) => wanted === end || wanted.startsWith(`${end}/`));

function hasLeft({ path, after }: RecordedStep, wanted: string, found: TreeState): boolean {
  if (wanted === path) return isAsRecorded(after.state, found, false);
  const inside = after.inside?.find(([below]) => `${path}/${below}` === wanted)?.[1];
  return inside === undefined
    ? found.kind === "absent" || wanted.startsWith(`${path}/`)
    : isAsRecorded(inside, found, false);
}
