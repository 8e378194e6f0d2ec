/** Reads several files into one answer of limited size (coder §15). */

import { refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { Measured } from "../../calls/contract/prepared-answer.ts";
import type { Limit } from "../../filesystem/files/types.ts";
import type { FileContent } from "../../text/edits/content.ts";
import { commaBytes } from "../../text/sizes/json-budget.ts";
import { jsonBytes, objectBytes } from "../../text/sizes/json-size.ts";
import type { CoderContext } from "../define.ts";
import { renderRefusal } from "../error-codes.ts";
import type { FileView, ReadAnswer, ReadResult } from "./answer.ts";
import { batchEntries, type ReadOptions, type ReadRequest } from "./options.ts";
import { refuseRead } from "./read-errors.ts";
import { viewFile } from "./view.ts";

/**
 * Reads each file separately. Refuses the largest ones until the remaining contents are within the limits.
 */
export async function readBatch(request: ReadRequest, context: CoderContext): Promise<Measured<ReadAnswer>> {
  let batch: Batch | undefined;
  for (const { path, options } of batchEntries(request, context.profile)) {
    batch ??= new Batch(options, context);
    const outcome = await context.attempt(() => viewFile({ path, options, context }));
    if ("error" in outcome) batch.addFailure(path, outcome.error.text);
    else batch.add(path, outcome.value);
  }
  if (batch === undefined) throw refuse.emptyBatch(request.files === undefined ? "paths" : "files");
  return await runInSlices(batch.measured(), createTimeSlice());
}

/** The bytes of an answer reserved for everything but content, if it has more than twice as many. */
const roomForTheRest = 1024 * 1024;

/** The number of entries measured in one step. */
const atOnce = 100;

/** A content, and the index of its result. */
interface Entry {
  readonly index: number;
  readonly content: FileContent;
}

class Batch {
  readonly #results: ReadResult[] = [];
  #entries: Entry[] = [];
  readonly #textLimit: Limit;
  readonly #jsonLimit: Limit;
  /** The share of the limits added since the last check. */
  #unchecked = 0;

  constructor({ maxOutputBytes = Number.POSITIVE_INFINITY }: ReadOptions, { maxAnswerBytes }: CoderContext) {
    const json = Math.floor(Math.max(maxAnswerBytes / 2, maxAnswerBytes - roomForTheRest));
    this.#textLimit = { key: "max_output_bytes", bytes: maxOutputBytes };
    this.#jsonLimit = { key: "max_answer_bytes", bytes: json };
  }

  addFailure(path: string, error: string): void {
    this.#results.push({ path, success: false, error });
  }

  add(path: string, { answer, content }: FileView): void {
    const index = this.#results.push({ ...answer, path, success: true }) - 1;
    if (content === undefined || content.bytes === 0) return;
    this.#entries.push({ index, content });
    this.#unchecked += content.bytes / this.#textLimit.bytes + content.jsonBytes / this.#jsonLimit.bytes;
    // The contents in memory therefore never exceed three times the limits, and each entry costs little to
    // check.
    if (this.#unchecked > 1) this.#refuseLargest();
  }

  /** Returns the whole answer. The contents have already been measured. */
  *measured(): Steps<Measured<ReadAnswer>> {
    this.#refuseLargest();
    const results = this.#results;
    const contents = new Map(this.#entries.map(({ index, content }) => [index, content.jsonBytes]));
    let total = jsonBytes({ results: [] }) + commaBytes(0, results.length);
    for (const [index, result] of results.entries()) {
      if (index % atOnce === 0) yield;
      // A content that was not counted is empty or absent.
      total += objectBytes(result, { content: contents.get(index) ?? 2 });
    }
    return new Measured({ results }, total);
  }

  /**
   * Refuses the largest contents until the others are within the limits. It does not matter when this is
   * called: a content is refused if it exceeds a limit together with those that are not larger.
   */
  #refuseLargest(): void {
    this.#keepWithin(this.#textLimit, ({ content }) => content.bytes);
    this.#keepWithin(this.#jsonLimit, ({ content }) => content.jsonBytes);
    this.#unchecked = 0;
  }

  #keepWithin(limit: Limit, bytesOf: (entry: Entry) => number): void {
    let total = sum(this.#entries.map(bytesOf));
    if (total <= limit.bytes) return;
    this.#entries.sort((one, other) => bytesOf(one) - bytesOf(other) || one.index - other.index);
    while (total > limit.bytes) {
      const largest = this.#entries.pop()!;
      total -= bytesOf(largest);
      this.#refuse(largest, limit);
    }
  }

  #refuse({ index }: Entry, limit: Limit): void {
    const { path, size = 0, total_lines: lines } = this.#results[index]!;
    const error = renderRefusal(refuseRead.largest({ path, size, lines, limit }));
    this.#results[index] = { path, success: false, error };
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
