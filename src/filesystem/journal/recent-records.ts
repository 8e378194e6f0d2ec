import { closeSync, fstatSync } from "node:fs";
import { type JournalRecord, type JournalSource, readSegment } from "./read-record.ts";
import { listSegments, openFrames, openIfThere } from "./segment-folder.ts";

/**
 * Maximum records kept in memory for a journal, and steps read for them: they are read while other calls
 * wait.
 */
const maxRecords = 200;
const maxSteps = 2000;

interface Recent {
  /** The newest segment and the size of its frames, which grows with each recorded step. */
  readonly signature: string;
  readonly records: readonly JournalRecord[];
}

const known = new WeakMap<JournalSource, Recent>();

/**
 * Returns the newest records, newest first, except those of a segment that would take long to read. Reads
 * them only if the journal has grown. Throws the errno error.
 */
export function recentRecords(source: JournalSource): readonly JournalRecord[] {
  const signature = signatureOf(source);
  const recent = known.get(source);
  if (recent?.signature === signature) return recent.records;
  const records: JournalRecord[] = [];
  let stepsLeft = maxSteps;
  for (const segment of listSegments(source.state).reverse()) {
    const reading = readSegment(source, segment);
    let next = reading.next();
    for (; !next.done && stepsLeft > 0; stepsLeft--) next = reading.next();
    reading.return([]);
    if (!next.done) break;
    records.push(...next.value.reverse());
    if (records.length >= maxRecords) break;
  }
  records.splice(maxRecords);
  known.set(source, { signature, records });
  return records;
}

function signatureOf({ state }: JournalSource): string {
  const newest = listSegments(state).at(-1);
  if (newest === undefined) return "";
  const descriptor = openIfThere(() => openFrames(state, newest));
  if (descriptor === undefined) return "";
  try {
    return `${newest}:${fstatSync(descriptor).size}`;
  } finally {
    closeSync(descriptor);
  }
}
