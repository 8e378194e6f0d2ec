import { closeSync, fstatSync } from "node:fs";
import { type JournalRecord, type JournalSource, readRecords } from "./read-record.ts";
import { listSegments, openFrames, openIfThere } from "./segment-folder.ts";

/** Maximum records that are kept in memory for a journal. */
const mostRecords = 200;

interface Recent {
  /** The newest segment and the size of its frames: it grows with each step that is recorded. */
  readonly signature: string;
  readonly records: readonly JournalRecord[];
}

const known = new WeakMap<JournalSource, Recent>();

/** Returns the newest records, newest first, and reads them only if the journal has grown. Throws the errno error. */
export function recentRecords(source: JournalSource): readonly JournalRecord[] {
  const signature = signatureOf(source);
  const recent = known.get(source);
  if (recent?.signature === signature) return recent.records;
  const records: JournalRecord[] = [];
  // A torn segment is logged by the call that needs it.
  const log = { ...source.log, warn: () => undefined };
  for (const record of readRecords({ state: source.state, log })) {
    records.push(record);
    if (records.length === mostRecords) break;
  }
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
