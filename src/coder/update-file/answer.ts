import type { Steps } from "../../base/scheduling/time-slice.ts";
import { Measured } from "../../calls/contract/prepared-answer.ts";
import type { Bodies } from "../../filesystem/operations/update.ts";
import type { Echo } from "../../text/edits/echo.ts";
import { decodeForAnswer, type JsonText } from "../../text/edits/json-text.ts";
import { joinPieces, piecesLength } from "../../text/edits/pieces.ts";
import { cutToBytes } from "../../text/edits/text.ts";
import { commaBytes, JsonBudget } from "../../text/sizes/json-budget.ts";
import { jsonBytes, objectBytes } from "../../text/sizes/json-size.ts";

/** The bytes of an answer reserved for paths, counts and errors; the bodies share the rest. */
const roomForTheRest = 1024 * 1024;

/** Maximum bytes of JSON for one byte of a body, as for a \u escape. */
const maxBytesPerByte = 6;

/** Both bodies of a file, cut to the room in the answer. */
export interface FittedBodies {
  readonly before: JsonText;
  readonly after: JsonText;
}

/** The changed places of a file, in one of two forms. */
export interface ShownFields {
  readonly echoes?: readonly Echo[];
  readonly echoes_truncated?: boolean;
  readonly diff?: string;
  readonly diff_truncated?: boolean;
  /** The current line ends of a file with others than LF. */
  readonly line_ends?: string;
  /** Whether the edit has changed the line ends. */
  readonly line_ends_changed?: true;
  /** Notes on the encoding, a byte order mark, and a missing line end at the end. */
  readonly text_notes?: readonly string[];
  /** Advice on replacements that probably did not do what was meant. */
  readonly hints?: readonly string[];
  /** Whether the file had the content already. */
  readonly unchanged?: boolean;
}

/** A file that was edited. */
interface Updated {
  readonly path: string;
  /** The number of ops that were applied. */
  readonly applied: number;
  /** The current number of lines. */
  readonly lines: number;
  /** The current revision, if the answer has it. */
  readonly revision?: string;
  /** Both bodies, if they are shown. */
  readonly bodies?: FittedBodies;
  /** The fields that are always small. */
  readonly fields: ShownFields;
}

interface Result extends ShownFields {
  readonly path: string;
  readonly success: boolean;
  readonly applied: number;
  readonly new_line_count: number;
  readonly revision?: string;
  readonly before?: string;
  readonly after?: string;
  readonly error?: string;
}

/**
 * The results, limited to the size of one message. The edits are done, so if the answer were too large to
 * send, the caller would believe that they are not. Bodies that do not fit are cut further.
 */
export class UpdateAnswer {
  readonly #results: Result[] = [];
  readonly #maxBodyBytes: number;
  readonly #bodies: JsonBudget;
  readonly #whole: JsonBudget;

  constructor(maxBodyBytes: number, maxAnswerBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#bodies = new JsonBudget(maxAnswerBytes - roomForTheRest, 0);
    this.#whole = new JsonBudget(maxAnswerBytes, jsonBytes({ results: [] }));
  }

  addFailure(path: string, error: string): void {
    const result = { path, success: false, applied: 0, new_line_count: 0, error };
    this.#add(result, jsonBytes(result));
  }

  addSuccess({ path, applied, lines, revision, bodies, fields }: Updated): void {
    const head = {
      path,
      success: true,
      applied,
      new_line_count: lines,
      ...(revision !== undefined && { revision }),
    };
    if (bodies === undefined) this.#addFields(head, fields);
    else this.#addBodies({ ...head, ...fields }, bodies);
  }

  #addBodies(head: Result, { before, after }: FittedBodies): void {
    const result = { ...head, before: before.text, after: after.text };
    this.#bodies.add(before.jsonBytes + after.jsonBytes);
    this.#add(result, objectBytes(result, { before: before.jsonBytes, after: after.jsonBytes }));
  }

  /**
   * Adds the fields of a file. Once the batch has filled the answer, the changes of further files are not
   * shown.
   */
  #addFields(head: Result, fields: ShownFields): void {
    const bytes = jsonBytes(fields);
    const isShown = bytes <= this.#bodies.bytesLeft;
    if (isShown) this.#bodies.add(bytes);
    const result = { ...head, ...(isShown ? fields : leaveOut(fields)) };
    this.#add(result, jsonBytes(result));
  }

  #add(result: Result, bytes: number): void {
    this.#whole.add(bytes + commaBytes(this.#results.length));
    this.#results.push(result);
  }

  /**
   * Returns the bodies of one more file, cut to the remaining room. Each gets half of it, and the rest of the
   * other's half. An empty body would be mistaken for an empty file.
   */
  *fit({ before, after }: Bodies): Steps<FittedBodies> {
    const room = this.#bodies.bytesLeft;
    const old = this.#fit([before], room);
    yield;
    if (old.jsonBytes <= room / 2) return { before: old, after: this.#fit(after, room - old.jsonBytes) };
    const now = this.#fit(after, Math.max(room - old.jsonBytes, Math.floor(room / 2)));
    const rest = room - now.jsonBytes;
    yield;
    return { before: old.jsonBytes <= rest ? old : this.#fit([before], rest), after: now };
  }

  /** Returns the whole answer. The bodies were measured when they were cut. */
  measured(): Measured<{ results: Result[] }> {
    return new Measured({ results: this.#results }, this.#whole.bytes);
  }

  #fit(pieces: readonly Buffer[], roomBytes: number): JsonText {
    const most = Math.min(piecesLength(pieces), this.#maxBodyBytes);
    // JSON is not shorter than its text, apart from up to three bytes of a character at the cut.
    const whole = most <= roomBytes + 3 ? textOf(pieces, this.#maxBodyBytes) : undefined;
    if (whole !== undefined && whole.jsonBytes <= roomBytes) return whole;
    const part = textOf(pieces, Math.max(0, Math.floor((roomBytes - 2) / maxBytesPerByte)));
    return part.jsonBytes <= roomBytes ? part : nothing;
  }
}

/** Removes the changes, and marks that they are missing. */
export function leaveOut({ echoes, diff, ...ends }: ShownFields): ShownFields {
  if (echoes !== undefined) return { ...ends, echoes: [], echoes_truncated: true };
  return diff === undefined ? ends : { ...ends, diff: "", diff_truncated: true };
}

const nothing: JsonText = { text: "", jsonBytes: 2 };

/** See `cutToBytes`, which reads three bytes more than fit. */
function textOf(pieces: readonly Buffer[], maxBytes: number): JsonText {
  const body = joinPieces(pieces, maxBytes + 3);
  if (body.length <= maxBytes) {
    const whole = decodeForAnswer(body);
    if (whole.isUtf8) return whole;
  }
  const text = cutToBytes(body, maxBytes);
  return { text, jsonBytes: jsonBytes(text) };
}
