/** Bounds the records of ended jobs: in age, number and size. */
import type { JobRecord } from "./records.ts";

export interface RetentionLimits {
  /** Milliseconds from the end of a job until its record is dropped. */
  readonly maxAgeMs: number;
  /** Maximum number of ended jobs to keep. */
  readonly maxCount: number;
  /**
   * Maximum bytes of commands and outputs of ended jobs. The job that ended last is kept whatever its size.
   */
  readonly maxBytes: number;
}

export interface Retention {
  /**
   * Keeps the record of an ended job, whose whole output has `outputBytes`, and drops those beyond the
   * limits.
   */
  add(record: JobRecord, outputBytes?: number): void;
  /** Drops the records that are too old, as a timer also does. */
  prune(): void;
  /** Stops the timer that prunes. */
  close(): void;
}

/** Maximum delay of a timer, in milliseconds. */
const maxDelayMilliseconds = 2 ** 31 - 1;

/** `drop` is called with the id of each dropped job; `now` returns milliseconds of the Unix epoch. */
export function createRetention(
  limits: RetentionLimits,
  now: () => number,
  drop: (id: string) => void,
): Retention {
  const kept: Kept[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  const isTooMuch = ({ endedAt }: Kept) =>
    now() - endedAt > limits.maxAgeMs ||
    kept.length > limits.maxCount ||
    (kept.length > 1 && bytes > limits.maxBytes);

  function prune(): void {
    clearTimeout(timer);
    let [oldest] = kept;
    while (oldest !== undefined && isTooMuch(oldest)) {
      kept.shift();
      bytes -= oldest.bytes;
      drop(oldest.id);
      [oldest] = kept;
    }
    if (oldest === undefined) return;
    const delay = oldest.endedAt + limits.maxAgeMs - now() + 1;
    timer = setTimeout(prune, Math.min(delay, maxDelayMilliseconds)).unref();
  }

  return {
    prune,
    add(record, outputBytes = 0) {
      const bytesOfJob = bytesOf(record) + outputBytes;
      const added = { id: record.id, endedAt: record.finished_at_ms ?? now(), bytes: bytesOfJob };
      kept.push(added);
      bytes += added.bytes;
      prune();
    },
    close: () => clearTimeout(timer),
  };
}

interface Kept {
  readonly id: string;
  readonly endedAt: number;
  readonly bytes: number;
}

const bytesOf = ({ argv, stdout, stderr }: JobRecord) =>
  [...argv, stdout, stderr].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
