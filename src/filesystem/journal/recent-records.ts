import { closeSync, fstatSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { type JournalRecord, type JournalSource, readSegment } from "./read-record.ts";
import { readBytes, readHeader } from "./segment.ts";
import { listSegments, openFrames, openIfThere } from "./segment-folder.ts";

/** Maximum records kept in memory for a journal. */
const maxRecords = 200;

/** Maximum frames, and bytes of their JSON, that are read for them: they are read while other calls wait. */
const maxFrames = 1000;
const maxBytes = 1024 * 1024;

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
  const room = { frames: maxFrames, bytes: maxBytes };
  for (const segment of listSegments(source.state).reverse()) {
    if (!fits(source, segment, room)) break;
    records.push(...runAtOnce(readSegment(source, segment)).reverse());
    if (records.length >= maxRecords) break;
  }
  records.splice(maxRecords);
  known.set(source, { signature, records });
  return records;
}

/** The frames, and the bytes of their JSON, that may still be read. */
interface Room {
  frames: number;
  bytes: number;
}

/** Returns whether the frames of a segment fit in the room, which they take. Reads only their first lines. */
function fits({ state }: JournalSource, segment: number, room: Room): boolean {
  const descriptor = openIfThere(() => openFrames(state, segment));
  if (descriptor === undefined) return true;
  try {
    const { size } = fstatSync(descriptor);
    let at = readHeader(descriptor)?.end ?? size;
    while (at < size && room.frames > 0 && room.bytes > 0) {
      const [line, json, contents] =
        frameLine.exec(readBytes(descriptor, at, maxLineLength).toString("latin1")) ?? [];
      // The next frame is found by reading everything up to it.
      const bytes = json === undefined ? size - at : Number(json);
      room.frames--;
      room.bytes -= bytes;
      at += line === undefined ? bytes : line.length + bytes + Number(contents) + trailerLength;
    }
    return room.frames > 0 && room.bytes > 0;
  } finally {
    closeSync(descriptor);
  }
}

/** Matches the first line of a frame, with the bytes of its JSON and of its contents. */
const frameLine = /^\w{16} \w{16} (\d{1,15}) (\d{1,15}) \d{1,15}\n/;
const maxLineLength = 2 * 17 + 3 * 17;
const trailerLength = 17;

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
